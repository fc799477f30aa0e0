/** The status of a session, as a word and a colour; in small places, as a dot. */
import { type Activity, activityOf } from "./summaries";

const TONES: Readonly<Record<Activity, string>> = {
  idle: "plain",
  running: "busy",
  "needs input": "waits",
  error: "bad",
};

/** Show a session's status in words. */
export function StatusBadge({ status }: { status: number }) {
  const activity = activityOf(status);
  return (
    <span class={`badge ${TONES[activity]}`} data-activity={activity}>
      {activity === "running" && <span class="spinner" aria-hidden="true" />}
      {activity}
    </span>
  );
}

/** Show a session's status as a dot; a screen reader hears the word. */
export function StatusDot({ status, isUnread }: { status: number; isUnread: boolean }) {
  const activity = activityOf(status);
  const words = [activity !== "idle" && activity, isUnread && "unread"].filter(Boolean).join(", ");
  return (
    <span class={`dot ${TONES[activity]} ${isUnread ? "unread" : ""}`} title={words || activity}>
      {words && <span class="unseen">{words}</span>}
    </span>
  );
}
