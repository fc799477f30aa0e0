/** The list of sessions: what state each is in, which are shown, and in what order. */
import { byChange } from "../../ahp/catalogue";
import type { SessionSummary } from "../../ahp/wire";
import { notedModel } from "../conversation/models";

export type Activity = "idle" | "error" | "running" | "needs input";

const ERROR = 2;
const IN_PROGRESS = 8;
const INPUT_NEEDED = 24;
export const IS_READ = 32;
export const IS_ARCHIVED = 64;

/** What a session is doing, from the bits of its status. */
export function activityOf(status: number): Activity {
  if ((status & INPUT_NEEDED) === INPUT_NEEDED) return "needs input";
  if (status & IN_PROGRESS) return "running";
  return status & ERROR ? "error" : "idle";
}

/** Whether a session has unread changes. */
export function isUnread(summary: Pick<SessionSummary, "status">): boolean {
  return (summary.status & IS_READ) === 0;
}

/** Whether a session is archived. */
export function isArchived(summary: Pick<SessionSummary, "status">): boolean {
  return (summary.status & IS_ARCHIVED) !== 0;
}

/** Find a session in the list. */
export function summaryOf(
  sessions: readonly SessionSummary[] | undefined,
  uri: string,
): SessionSummary | undefined {
  return sessions?.find((one) => one.resource === uri);
}

export interface Filter {
  readonly text: string;
  readonly archived: boolean;
  /** Sessions in which the text was found, whatever they are called. */
  readonly found?: { has(uri: string): boolean };
}

/** Return the matching sessions, newest first; every word has to be in the title, the agent, the model or the folder. */
export function filterSessions(all: Iterable<SessionSummary>, filter: Filter): SessionSummary[] {
  const words = filter.text.toLowerCase().split(/\s+/).filter(Boolean);
  const fits = (summary: SessionSummary) => {
    if (isArchived(summary) !== filter.archived) return false;
    if (words.length === 0 || filter.found?.has(summary.resource)) return true;
    const { title, provider, _meta, workingDirectories = [], activity, chats = [] } = summary;
    const names = [notedModel(_meta)?.id, ...workingDirectories, ...chats.map((chat) => chat.title)];
    const text = [title, provider, activity, ...names].join(" ").toLowerCase();
    return words.every((word) => text.includes(word));
  };
  return [...all].filter(fits).sort(byChange);
}

/** Split a text at the words of a query: every second piece is such a word. */
export function splitAtWords(text: string, sought: string): string[] {
  const words = sought.split(/\s+/).filter(Boolean);
  const escaped = words.map((word) => word.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"));
  return words.length === 0 ? [text] : text.split(new RegExp(`(${escaped.join("|")})`, "iu"));
}

/** Name the part of the list that a time belongs to: a day, a week, a month. Days begin at midnight here. */
export function periodOf(then: number, now: number): string {
  const day = new Date(now).setHours(0, 0, 0, 0);
  const daysBefore = (days: number) => new Date(day).setDate(new Date(day).getDate() - days);
  if (then >= day) return "Today";
  if (then >= daysBefore(1)) return "Yesterday";
  if (then >= daysBefore(7)) return "Previous 7 days";
  if (then >= daysBefore(30)) return "Previous 30 days";
  return new Date(then).toLocaleDateString(undefined, { month: "long", year: "numeric" });
}

/** Say in a word or two how long ago something was. */
export function ago(then: number, now: number): string {
  const minutes = Math.floor((now - then) / 60_000);
  if (minutes < 1) return "now";
  if (minutes < 60) return `${minutes} min`;
  if (minutes < 24 * 60) return `${Math.floor(minutes / 60)} h`;
  if (minutes < 7 * 24 * 60) return `${Math.floor(minutes / (24 * 60))} d`;
  return new Date(then).toLocaleDateString(undefined, { day: "numeric", month: "short", year: "numeric" });
}

/** The last part of a URI's path, for people. */
export function baseName(uri: string): string {
  const path = uri.replace(/[?#].*$/, "").replace(/\/+$/, "");
  const last = path.slice(path.lastIndexOf("/") + 1);
  try {
    return decodeURIComponent(last) || uri;
  } catch {
    return last || uri;
  }
}

/** Name a file after a session, without anything that a file system could object to. */
export function fileNameOf({ title, resource }: Pick<SessionSummary, "title" | "resource">): string {
  const words = title.replace(/[^\p{L}\p{M}\p{N}]+/gu, "-").slice(0, 60);
  return words.replace(/^-+|-+$/g, "") || resource.replace(/[^A-Za-z0-9]+/g, "-");
}
