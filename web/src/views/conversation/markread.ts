/** A session that is shown, and its chat if there are several, is marked as read, though not while it is answering. */
import { useEffect, useLayoutEffect } from "preact/hooks";
import { client } from "../../ahp";
import type { ChatState, SessionState, URI } from "../../ahp/wire";
import { noteOpened } from "../sessions/opened";
import { activityOf, isUnread } from "../sessions/summaries";

/** Mark it as read when it is shown. */
export function useMarkRead(uri: URI, session: SessionState, chat: ChatState): void {
  // At once, not after the next frame: the user may leave before that.
  useLayoutEffect(() => noteOpened(uri), [uri]);
  const isOneOfMany = session.chats.length > 1;
  useLayoutEffect(() => {
    if (isOneOfMany) noteOpened(chat.resource);
  }, [chat.resource, isOneOfMany]);
  const isIdle = activityOf(chat.status) !== "running";
  useMarkWhenSeen(uri, isIdle && isUnread(session), "session/isReadChanged");
  useMarkWhenSeen(chat.resource, isIdle && isOneOfMany && isUnread(chat), "chat/isReadChanged");
}

function useMarkWhenSeen(
  channel: URI,
  isDue: boolean,
  type: "session/isReadChanged" | "chat/isReadChanged",
): void {
  useEffect(() => {
    if (!isDue) return;
    const mark = () => {
      if (document.visibilityState !== "visible") return;
      void client.dispatch(channel, { type, isRead: true }).catch(() => undefined);
    };
    mark();
    document.addEventListener("visibilitychange", mark);
    return () => document.removeEventListener("visibilitychange", mark);
  }, [channel, isDue]);
}
