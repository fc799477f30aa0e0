/** The rows of the wire panel, and its filter. */
import type { Frame, RpcMessage } from "../../ahp";

export const KINDS = ["request", "response", "error", "action", "rejection", "notification", "note"] as const;
export type Kind = (typeof KINDS)[number];

/** A frame in a line. */
export interface Line {
  readonly kind: Kind;
  /** The method, or the type of the action. */
  readonly name: string;
  /** The channel; none for an answer, which has that of its request. */
  readonly channel: string;
  readonly serverSeq: number | undefined;
  readonly id: string;
  /** What else it is about: a file, a session of the list, an error. */
  readonly about: string;
}

export interface WireFilter {
  readonly text: string;
  readonly direction: "both" | "in" | "out";
  readonly kind: Kind | "all";
  /** Only this channel; all if undefined. */
  readonly channel: string | undefined;
}

export const EVERYTHING: WireFilter = { text: "", direction: "both", kind: "all", channel: undefined };

const lines = new WeakMap<Frame, Line>();
const messages = new WeakMap<Frame, RpcMessage>();

/** Return a frame's message; nothing for a note, or if it is not JSON. */
export function messageOf(frame: Frame): RpcMessage | undefined {
  if (frame.kind === "note") return undefined;
  let message = messages.get(frame);
  if (!message) {
    try {
      message = JSON.parse(frame.text) as RpcMessage;
    } catch {
      return undefined;
    }
    messages.set(frame, message);
  }
  return message;
}

/** Return a frame as a row. Cached. */
export function lineOf(frame: Frame): Line {
  let line = lines.get(frame);
  if (!line) {
    line = readLine(frame);
    lines.set(frame, line);
  }
  return line;
}

interface Fields {
  channel?: string;
  action?: { type?: string };
  serverSeq?: number;
  rejectionReason?: string | null;
  session?: string;
  summary?: { resource?: string };
  [key: string]: unknown;
}

function readLine(frame: Frame): Line {
  const message = messageOf(frame);
  const plain = { serverSeq: undefined, id: "", about: "", channel: "" };
  if (!message) return { ...plain, kind: "note", name: frame.text };
  const id = message.id === undefined || message.id === null ? "" : String(message.id);
  if (message.error)
    return { ...plain, kind: "error", name: String(message.error.code), id, about: message.error.message };
  if (message.method === undefined) return { ...plain, kind: "response", name: "", id };
  const params = (message.params ?? {}) as Fields;
  const { channel = "", action, serverSeq, rejectionReason } = params;
  if (action) {
    const kind = rejectionReason ? "rejection" : "action";
    return { kind, name: action.type ?? "", serverSeq, id: "", channel, about: rejectionReason ?? "" };
  }
  const kind = id ? "request" : "notification";
  return { ...plain, kind, name: message.method, id, channel, about: aboutOf(params) };
}

function aboutOf(params: Fields): string {
  const { session, summary, chat, uri, source } = params;
  const found = [session, summary?.resource, chat, uri, source].find((one) => typeof one === "string");
  return (found as string | undefined) ?? "";
}

const CHANNEL = /"channel":\s*"([^"\\]+)"/;

/** Note the channels of frames, in the order in which they are seen. Read from the text: frames are many. */
export function noteChannels(frames: readonly Frame[], known: Set<string>, from: number): void {
  for (let at = firstAfter(frames, from); at < frames.length; at++) {
    const { kind, text } = frames[at]!;
    const channel = kind === "note" ? undefined : CHANNEL.exec(text)?.[1];
    if (channel) known.add(channel);
  }
}

function firstAfter(frames: readonly Frame[], from: number): number {
  let at = frames.length;
  while (at > 0 && frames[at - 1]!.n > from) at--;
  return at;
}

/** The requests of both sides, by direction and id: each side numbers its own. */
export type Requests = ReadonlyMap<string, Line>;

/** Return the request that a frame answers; nothing, if it is no answer. */
export function requestOf(frame: Frame, requests: Requests): Line | undefined {
  const { kind, id } = lineOf(frame);
  if (kind !== "response" && kind !== "error") return undefined;
  return requests.get(`${frame.kind === "in" ? "out" : "in"} ${id}`);
}

/** Whether a frame is on a channel. Most can be told from their text, and need not be parsed. */
function isOn(frame: Frame, channel: string, requests: Requests): boolean {
  if (frame.text.includes(channel) && lineOf(frame).channel === channel) return true;
  const mayAnswer = frame.kind !== "note" && !frame.text.slice(0, 100).includes('"method"');
  return mayAnswer && requestOf(frame, requests)?.channel === channel;
}

/** Return the matching frames. Every word must occur in the message as it was sent. */
export function filterFrames(
  frames: readonly Frame[],
  filter: WireFilter,
  requests: Requests,
): readonly Frame[] {
  const words = filter.text.toLowerCase().split(/\s+/).filter(Boolean);
  const { direction, kind, channel } = filter;
  if (words.length === 0 && direction === "both" && kind === "all" && channel === undefined) return frames;
  return frames.filter((frame) => {
    if (direction !== "both" && frame.kind !== direction) return false;
    if (channel !== undefined && !isOn(frame, channel, requests)) return false;
    if (kind !== "all" && lineOf(frame).kind !== kind) return false;
    if (words.length === 0) return true;
    const text = frame.text.toLowerCase();
    return words.every((word) => text.includes(word));
  });
}

/** Note the requests among frames. Returns the number of the last frame. */
export function noteRequests(frames: readonly Frame[], requests: Map<string, Line>, from: number): number {
  for (let at = firstAfter(frames, from); at < frames.length; at++) {
    const frame = frames[at]!;
    if (frame.kind === "note" || (frame.kind === "in" && frame.text.includes('"action"'))) continue;
    const line = lineOf(frame);
    if (line.kind === "request") requests.set(`${frame.kind} ${line.id}`, line);
  }
  return Math.max(from, frames.at(-1)?.n ?? 0);
}
