/** URIs of files and folders, taken apart and put together. */

/** The folder that something is in; nothing above the top. */
export function parentOf(uri: string): string | undefined {
  const trimmed = uri.replace(/\/+$/, "");
  const at = trimmed.lastIndexOf("/");
  const parent = trimmed.slice(0, at);
  if (at < 0 || !/^[a-z][\w+.-]*:\/\/.*/i.test(trimmed)) return undefined;
  return /^[a-z][\w+.-]*:\/\/[^/]*$/i.test(parent) ? `${parent}/` : parent;
}

/** Something in a folder, by its name. */
export function childOf(folder: string, name: string): string {
  return `${folder.replace(/\/+$/, "")}/${encodeURIComponent(name)}`;
}
