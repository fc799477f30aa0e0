/**
 * Which sessions were opened in this browser.
 *
 * The host says of every session that nobody has marked as read that it is unread, also of those that programs
 * make by the hundred. A mark means something only where somebody has been: so it is shown for what has
 * changed since it was opened, and not for what was never opened.
 */
import { signal } from "@preact/signals";
import type { SessionSummary } from "../../ahp/wire";
import { keep, kept } from "../route";
import { isUnread } from "./summaries";

const KEY = "opened";
const MAX_OPENED = 1_000;

/** URIs, the last one opened at the end. */
const opened = signal<readonly string[]>(readOpened(kept(KEY)));
// Another window has opened one.
addEventListener("storage", ({ key, newValue }) => {
  if (key === `agenthost.${KEY}`) opened.value = readOpened(newValue ?? undefined);
});

/** Read what was kept; what is no list of URIs counts as none. */
function readOpened(text: string | undefined): string[] {
  try {
    const found: unknown = JSON.parse(text ?? "[]");
    return Array.isArray(found) ? found.filter((one) => typeof one === "string") : [];
  } catch {
    return [];
  }
}

/** Note that a session is looked at, or that somebody wants to be reminded of it. */
export function noteOpened(uri: string): void {
  const known = opened.peek();
  if (known.at(-1) === uri) return;
  opened.value = [...known.filter((one) => one !== uri), uri].slice(-MAX_OPENED);
  keep(KEY, JSON.stringify(opened.value));
}

/** Whether a session is marked as unread: it was opened here, and nobody has read what came since. */
export function isMarkedUnread(summary: Pick<SessionSummary, "resource" | "status">): boolean {
  return isUnread(summary) && opened.value.includes(summary.resource);
}
