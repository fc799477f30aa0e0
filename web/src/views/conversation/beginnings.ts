/** Chats that are about to begin: what they are about. */
import { signal } from "@preact/signals";
import type { CreateChatParams, URI } from "../../ahp/wire";
import { goTo } from "../route";
import { NEW_CHAT } from "./chats";

export type ChatSource = NonNullable<CreateChatParams["source"]>;

/** By session. */
const sources = signal<ReadonlyMap<URI, ChatSource>>(new Map());

/** Return what the next chat of a session is about; nothing, if nothing in particular. */
export function nextSource(session: URI): ChatSource | undefined {
  return sources.value.get(session);
}

/** Go to a new chat; a side chat, if there is a source. */
export function beginChat(session: URI, source?: ChatSource): void {
  const others = [...sources.value].filter(([uri]) => uri !== session);
  sources.value = new Map(source ? [...others, [session, source]] : others);
  goTo(session, NEW_CHAT);
}
