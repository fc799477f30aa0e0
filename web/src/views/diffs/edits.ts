/** Changes of files, in words. */
import type {
  ActiveTurn,
  Changeset,
  ChangesSummary,
  ChatState,
  FileEdit,
  Meta,
  SessionState,
  Turn,
  URI,
} from "../../ahp/wire";
import { isDefaultChat } from "../conversation/chats";
import { baseName } from "../sessions/summaries";

/** A further chat has its own changes; those of the default chat are the session's. */
function offered(session: SessionState, chat: ChatState | undefined): readonly Changeset[] {
  const isFirst = !chat || isDefaultChat(session, chat.resource);
  return (isFirst ? session.changesets : chat.changesets) ?? [];
}

/** Return the channel that has all changes of a session, or of a further chat; nothing, if none is offered. */
export function changesetOf(session: SessionState, chat?: ChatState): URI | undefined {
  const whole = offered(session, chat).filter(({ uriTemplate }) => !uriTemplate.includes("{"));
  return (whole.find(({ changeKind }) => changeKind === "session") ?? whole[0])?.uriTemplate;
}

const TURN = "{turnId}";

/** Return the channel that has the changes of one turn; nothing, if none is offered. */
export function turnChangesetOf(session: SessionState, chat: ChatState, turnId: string): URI | undefined {
  const template = offered(session, chat).find(({ uriTemplate }) => uriTemplate.includes(TURN));
  return template?.uriTemplate.replace(TURN, turnId);
}

/** Return the turns in which a tool changed a file. */
export function turnsWithEdits({ turns, activeTurn }: ChatState): readonly (Turn | ActiveTurn)[] {
  return [...turns, ...(activeTurn ? [activeTurn] : [])].filter(({ responseParts }) =>
    responseParts.some(
      (part) =>
        part.kind === "toolCall" &&
        "content" in part.toolCall &&
        part.toolCall.content?.some((one) => one.type === "fileEdit"),
    ),
  );
}

/** Count files and lines. */
export function countEdits(edits: readonly FileEdit[]): Required<ChangesSummary> {
  const sum = (side: "added" | "removed") =>
    edits.reduce((total, edit) => total + (edit.diff?.[side] ?? 0), 0);
  return { files: edits.length, additions: sum("added"), deletions: sum("removed") };
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
