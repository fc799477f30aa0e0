/**
 * A little colour for code: comments, strings, numbers and words that most languages share.
 *
 * It knows no grammar. Where it is not sure, it uses no colour, which is better than a wrong one.
 */
import type { ComponentChildren } from "preact";

const WORDS = new Set(
  (
    "abstract as assert async await break case catch class const continue def default defer del delete do elif else " +
    "end enum except export extends false False final finally fn for from func function global go if impl implements " +
    "import in instanceof interface is lambda let loop match mod module mut new nil None not null or and package " +
    "pass private protected pub public raise return self static struct super switch this throw trait true True try " +
    "type typeof undefined use using var void when where while with yield"
  ).split(" "),
);

const HASH_COMMENTS = new Set([
  "sh",
  "bash",
  "shell",
  "zsh",
  "console",
  "py",
  "python",
  "rb",
  "ruby",
  "toml",
  "yaml",
  "yml",
  "make",
  "dockerfile",
  "r",
  "perl",
  "conf",
  "ini",
]);
const DASH_COMMENTS = new Set(["sql", "lua", "haskell", "hs", "ada"]);
const PLAIN = new Set(["", "text", "txt", "plain", "plaintext", "md", "markdown", "output", "log", "csv"]);
const MARKUP = new Set(["html", "xml", "svg", "vue"]);

const STRING = String.raw`"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'|${"`"}(?:[^${"`"}\\]|\\[\s\S])*${"`"}`;
const NUMBER = String.raw`\b(?:0[xX][\da-fA-F_]+|\d[\d_]*(?:\.\d+)?(?:[eE][+-]?\d+)?)\b`;
const WORD = String.raw`[A-Za-z_$][\w$]*`;
const patterns = new Map<string, RegExp>();

function patternFor(language: string): RegExp {
  const comment = HASH_COMMENTS.has(language)
    ? String.raw`#[^\n]*`
    : DASH_COMMENTS.has(language)
      ? String.raw`--[^\n]*`
      : MARKUP.has(language)
        ? String.raw`<!--[\s\S]*?(?:-->|$)`
        : String.raw`\/\/[^\n]*|\/\*[\s\S]*?(?:\*\/|$)`;
  let pattern = patterns.get(comment);
  if (pattern === undefined) {
    pattern = new RegExp(`(${comment})|(${STRING})|(${NUMBER})|(${WORD})`, "g");
    patterns.set(comment, pattern);
  }
  return pattern;
}

/** Return code as text with coloured pieces in it. */
export function colour(text: string, language: string): ComponentChildren {
  const name = language.toLowerCase();
  if (PLAIN.has(name)) return text;
  const pieces: ComponentChildren[] = [];
  let last = 0;
  for (const match of text.matchAll(patternFor(name))) {
    const isKey = name === "json" && text[match.index + match[0].length] === ":";
    const kind = isKey ? "word" : kindOf(match, MARKUP.has(name));
    if (kind === undefined) continue;
    if (match.index > last) pieces.push(text.slice(last, match.index));
    pieces.push(<span class={`hl-${kind}`}>{match[0]}</span>);
    last = match.index + match[0].length;
  }
  pieces.push(text.slice(last));
  return pieces;
}

function kindOf(match: RegExpMatchArray, isMarkup: boolean): string | undefined {
  if (match[1] !== undefined) return "comment";
  if (match[2] !== undefined) return "string";
  if (match[3] !== undefined) return "number";
  return !isMarkup && WORDS.has(match[0]) ? "word" : undefined;
}
