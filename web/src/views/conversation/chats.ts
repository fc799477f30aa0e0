/** The chats of a session: which one is shown, and which are listed. */
import type { ChatSummary, SessionState, SessionSummary, URI } from "../../ahp/wire";

/** Stands for a chat that is about to begin, in place of its URI. */
export const NEW_CHAT = "new";

/** Return the chat to show: the one of the address, or the default chat; that, too, while a new one is begun. */
export function chatOf(session: SessionState, wanted: URI | undefined): URI | undefined {
  const isThere = wanted !== undefined && wanted !== NEW_CHAT;
  return isThere ? wanted : (session.defaultChat ?? session.chats[0]?.resource);
}

/** Whether it is the default chat of a session. */
export function isDefaultChat(session: SessionState, chat: URI): boolean {
  return chat === chatOf(session, undefined);
}

/**
 * List the chats, the default one first; none if it is the only one.
 *
 * Chats of tool calls are opened from there, so they are listed only while they are shown.
 */
export function listChats(session: SessionState, shown: URI): readonly ChatSummary[] {
  const isListed = ({ resource, origin, interactivity }: ChatSummary) =>
    resource === shown ||
    isDefaultChat(session, resource) ||
    (origin?.kind !== "tool" && interactivity !== "hidden");
  const listed = session.chats.filter(isListed);
  const first = listed.filter(({ resource }) => isDefaultChat(session, resource));
  const others = listed.filter((one) => !first.includes(one));
  return others.length > 0 || shown === NEW_CHAT ? [...first, ...others] : [];
}

const NAMES: Readonly<Record<string, string>> = { fork: "Fork", sideChat: "Side chat", tool: "Subagent" };

/** The name of a chat, even without a title. */
export function nameOfChat(session: SessionState, chat: ChatSummary): string {
  if (chat.title) return chat.title;
  if (isDefaultChat(session, chat.resource)) return "Main";
  const kind = chat.origin?.kind ?? "user";
  const alike = session.chats.filter((one) => !one.title && (one.origin?.kind ?? "user") === kind);
  const others = alike.filter((one) => !isDefaultChat(session, one.resource));
  const number = others.length > 1 ? ` ${others.indexOf(chat) + 1}` : "";
  return `${NAMES[kind] ?? "Chat"}${number}`;
}

/** Where a fork or a side chat comes from. */
export interface ChatOfOrigin {
  readonly words: string;
  /** The chat; none if it is gone. */
  readonly chat: URI | undefined;
  readonly name: string;
  /** What the side chat is about. */
  readonly selection?: string;
}

/** Return where a chat comes from; nothing, if from nowhere that can be shown. */
export function sourceOf(session: SessionState, { origin }: ChatSummary): ChatOfOrigin | undefined {
  if (origin?.kind !== "fork" && origin?.kind !== "sideChat") return undefined;
  const found = session.chats.find((one) => one.resource === origin.chat);
  const selection = origin.kind === "sideChat" ? origin.selection?.text : undefined;
  return {
    words: origin.kind === "fork" ? "Fork of" : "Side chat about",
    chat: found?.resource,
    name: found ? nameOfChat(session, found) : "a chat that was deleted",
    ...(selection && { selection }),
  };
}

/** Return the address of the chat before or after the one that is shown; nothing at the ends. */
export function neighbourOf(session: SessionState, shown: URI, by: 1 | -1): URI | undefined {
  const chats = listChats(session, shown);
  return chats[chats.findIndex((one) => one.resource === shown) + by]?.resource;
}

/** Find the session of a resource: itself, or the one that has it as a chat. */
export function placeOf(
  resource: URI,
  sessions: readonly SessionSummary[],
): { session: URI; chat?: URI } | undefined {
  if (sessions.some((one) => one.resource === resource)) return { session: resource };
  const session = sessions.find((one) => one.chats?.some((chat) => chat.resource === resource));
  return session && { session: session.resource, chat: resource };
}
