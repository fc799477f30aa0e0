/** Changes of files, in words. */
import type { FileEdit, Meta, SessionState, URI } from "../../ahp/wire";
import { baseName } from "../sessions/summaries";

/** Return the channel that has all changes of a session; nothing, if the host offers none. */
export function changesetOf({ changesets = [] }: SessionState): URI | undefined {
  const whole = changesets.filter(({ uriTemplate }) => !uriTemplate.includes("{"));
  return (whole.find(({ changeKind }) => changeKind === "session") ?? whole[0])?.uriTemplate;
}

/** Return the changes that a host without changesets notes in the `_meta` of a session. */
export function notedEdits(meta: Meta | undefined): readonly FileEdit[] {
  const found = meta?.["agenthost.diffs"];
  return Array.isArray(found) ? (found as unknown as readonly FileEdit[]) : [];
}

export type EditKind = "created" | "deleted" | "renamed" | "edited";

/** The kind of change. An edit with only `after`, and no count of removed lines, is a new file. */
export function kindOf(edit: FileEdit): EditKind {
  if (!edit.before) return edit.diff?.removed ? "edited" : "created";
  if (!edit.after) return "deleted";
  return edit.before.uri === edit.after.uri ? "edited" : "renamed";
}

/** The current name of the file. */
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
