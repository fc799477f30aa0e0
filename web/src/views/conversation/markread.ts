/** A session that somebody looks at is read: not while it is answering, but once there is something to see. */
import { useEffect } from "preact/hooks";
import type { SessionState } from "../../ahp/wire";
import { noteOpened } from "../sessions/opened";
import { activityOf, isUnread } from "../sessions/summaries";
import type { OwnAction } from "./access";

/** Mark it as read when it is looked at. */
export function useMarkRead({ summary }: SessionState, act: (action: OwnAction) => void): void {
  useEffect(() => noteOpened(summary.resource), [summary.resource]);
  const isDue = isUnread(summary) && activityOf(summary.status) !== "running";
  useEffect(() => {
    if (!isDue) return;
    const mark = () => {
      if (document.visibilityState === "visible") act({ type: "session/isReadChanged", isRead: true });
    };
    mark();
    document.addEventListener("visibilitychange", mark);
    return () => document.removeEventListener("visibilitychange", mark);
  }, [summary.resource, isDue]);
}
