/** A session that is shown is marked as read, though not while it is answering. */
import { useEffect, useLayoutEffect } from "preact/hooks";
import { client } from "../../ahp";
import type { ChatState, SessionState, URI } from "../../ahp/wire";
import { noteOpened } from "../sessions/opened";
import { activityOf, isUnread } from "../sessions/summaries";

/** Mark it as read when it is shown. */
export function useMarkRead(uri: URI, session: SessionState, chat: ChatState): void {
  // At once, not after the next frame: the user may leave before that.
  useLayoutEffect(() => noteOpened(uri), [uri]);
  const isDue = isUnread(session) && activityOf(chat.status) !== "running";
  useEffect(() => {
    if (!isDue) return;
    const mark = () => {
      if (document.visibilityState !== "visible") return;
      void client.dispatch(uri, { type: "session/isReadChanged", isRead: true }).catch(() => undefined);
    };
    mark();
    document.addEventListener("visibilitychange", mark);
    return () => document.removeEventListener("visibilitychange", mark);
  }, [uri, isDue]);
}
