/**
 * Which sessions were opened in this browser.
 *
 * To the host, every session is unread until a client marks it as read, including those that programs
 * create by the hundred. So the mark is shown only for sessions that were opened here and have
 * changed since.
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

/** Read the stored list; anything but a list of URIs counts as empty. */
function readOpened(text: string | undefined): string[] {
  try {
    const found: unknown = JSON.parse(text ?? "[]");
    return Array.isArray(found) ? found.filter((one) => typeof one === "string") : [];
  } catch {
    return [];
  }
}

/** Note that a session was opened, or marked as unread by the user. */
export function noteOpened(uri: string): void {
  const known = opened.peek();
  if (known.at(-1) === uri) return;
  opened.value = [...known.filter((one) => one !== uri), uri].slice(-MAX_OPENED);
  keep(KEY, JSON.stringify(opened.value));
}

/** Whether a session is marked as unread: it was opened here, and has unread changes since. */
export function isMarkedUnread(summary: Pick<SessionSummary, "resource" | "status">): boolean {
  return isUnread(summary) && opened.value.includes(summary.resource);
}
