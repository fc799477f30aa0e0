/** The chats of a session: which one is shown, and which are listed. */
import type { ChatSummary, SessionState, SessionSummary, URI } from "../../ahp/wire";

/** Return the chat to show: the one of the address, or the default chat. */
export function chatOf(session: SessionState, wanted: URI | undefined): URI | undefined {
  return wanted ?? session.defaultChat ?? session.chats[0]?.resource;
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
  return others.length > 0 ? [...first, ...others] : [];
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

/** Find the session of a resource: itself, or the one that has it as a chat. */
export function placeOf(
  resource: URI,
  sessions: readonly SessionSummary[],
): { session: URI; chat?: URI } | undefined {
  if (sessions.some((one) => one.resource === resource)) return { session: resource };
  const session = sessions.find((one) => one.chats?.some((chat) => chat.resource === resource));
  return session && { session: session.resource, chat: resource };
}
