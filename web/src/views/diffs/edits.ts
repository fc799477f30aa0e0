/** Changes of files, in words. */
import type { FileEdit } from "../../ahp/wire";
import { baseName } from "../sessions/summaries";

export type EditKind = "created" | "deleted" | "renamed" | "edited";

/** What became of the file. Only `after`, where nothing says how much was removed, is a new file. */
export function kindOf(edit: FileEdit): EditKind {
  if (!edit.before) return edit.diff?.removed ? "edited" : "created";
  if (!edit.after) return "deleted";
  return edit.before.uri === edit.after.uri ? "edited" : "renamed";
}

/** The file, as it is called now. */
export function uriOf(edit: FileEdit): string {
  return edit.after?.uri ?? edit.before?.uri ?? "";
}

/** The path of a file for people: from the folder of the session on, if it is in there. */
export function pathOf(uri: string, folder: string | undefined): string {
  const root = folder?.replace(/\/*$/, "/");
  const rest = root && uri.startsWith(root) ? uri.slice(root.length) : uri.replace(/^file:\/\//, "");
  try {
    return decodeURIComponent(rest) || baseName(uri);
  } catch {
    return rest;
  }
}
