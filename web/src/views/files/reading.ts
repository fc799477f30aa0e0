/** Contents read over the connection: text, images, or bytes that are neither. */
import type { Result } from "../../ahp/wire";

export type Content =
  | { readonly kind: "text"; readonly text: string; readonly contentType: string }
  | { readonly kind: "image"; readonly url: string; readonly contentType: string }
  | { readonly kind: "bytes"; readonly size: number; readonly contentType: string };

/** Images that a browser shows, and that cannot hold scripts: an SVG in `<img>` runs none. */
const IMAGES = new Set([
  "image/png",
  "image/jpeg",
  "image/gif",
  "image/webp",
  "image/avif",
  "image/bmp",
  "image/svg+xml",
]);

const BY_ENDING: Readonly<Record<string, string>> = {
  png: "image/png",
  jpg: "image/jpeg",
  jpeg: "image/jpeg",
  gif: "image/gif",
  webp: "image/webp",
  avif: "image/avif",
  bmp: "image/bmp",
  svg: "image/svg+xml",
};

/** Return content in the form in which it is shown. */
export function contentOf(read: Result<"resourceRead">, uri: string): Content {
  const contentType = (read.contentType ?? BY_ENDING[endingOf(uri)] ?? "")
    .split(";")[0]!
    .trim()
    .toLowerCase();
  if (IMAGES.has(contentType)) return { kind: "image", url: imageUrl(read, contentType), contentType };
  if (read.encoding === "utf-8") return { kind: "text", text: read.data, contentType };
  return { kind: "bytes", size: Math.floor((read.data.length * 3) / 4), contentType };
}

function imageUrl(read: Result<"resourceRead">, contentType: string): string {
  if (read.encoding === "base64") return `data:${contentType};base64,${read.data}`;
  return `data:${contentType};charset=utf-8,${encodeURIComponent(read.data)}`;
}

function endingOf(uri: string): string {
  return /\.([a-z0-9]+)$/i.exec(uri)?.[1]?.toLowerCase() ?? "";
}

const LANGUAGES: Readonly<Record<string, string>> = {
  js: "js",
  mjs: "js",
  ts: "ts",
  tsx: "tsx",
  jsx: "jsx",
  py: "python",
  rb: "ruby",
  rs: "rust",
  go: "go",
  java: "java",
  c: "c",
  h: "c",
  cpp: "cpp",
  sh: "sh",
  bash: "sh",
  zsh: "sh",
  toml: "toml",
  yaml: "yaml",
  yml: "yaml",
  json: "json",
  sql: "sql",
  html: "html",
  xml: "xml",
  css: "css",
  lua: "lua",
  php: "php",
  swift: "swift",
  kt: "kotlin",
};

/** The language of a file, by its name; nothing for plain text. */
export function languageOf(uri: string): string {
  return LANGUAGES[endingOf(uri)] ?? "";
}

/** A number of bytes for people. */
export function bytes(count: number): string {
  if (count < 1000) return `${count} B`;
  if (count < 1e6) return `${(count / 1e3).toFixed(count < 1e4 ? 1 : 0)} kB`;
  return `${(count / 1e6).toFixed(count < 1e7 ? 1 : 0)} MB`;
}
