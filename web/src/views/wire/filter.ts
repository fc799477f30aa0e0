/** What the wire panel says of each frame, and which frames it shows. */
import type { Frame, Message } from "../../ahp";

export const KINDS = ["request", "response", "error", "action", "rejection", "notification", "note"] as const;
export type Kind = (typeof KINDS)[number];

/** A frame in a line. */
export interface Line {
  readonly kind: Kind;
  /** The method, or the type of the action or notification. */
  readonly name: string;
  readonly serverSeq: number | undefined;
  readonly id: string;
  /** What it is about: a resource, an error. */
  readonly about: string;
}

export interface WireFilter {
  readonly text: string;
  readonly direction: "both" | "in" | "out";
  readonly kind: Kind | "all";
}

export const EVERYTHING: WireFilter = { text: "", direction: "both", kind: "all" };

const lines = new WeakMap<Frame, Line>();
const messages = new WeakMap<Frame, Message>();

/** Give a frame's message; nothing for a note, or what is no JSON. */
export function messageOf(frame: Frame): Message | undefined {
  if (frame.kind === "note") return undefined;
  let message = messages.get(frame);
  if (!message) {
    try {
      message = JSON.parse(frame.text) as Message;
    } catch {
      return undefined;
    }
    messages.set(frame, message);
  }
  return message;
}

/** Give a frame in a line. It is read once. */
export function lineOf(frame: Frame): Line {
  let line = lines.get(frame);
  if (!line) {
    line = readLine(frame);
    lines.set(frame, line);
  }
  return line;
}

interface Fields {
  action?: { type?: string; session?: string; terminal?: string };
  serverSeq?: number;
  rejectionReason?: string | null;
  notification?: { type?: string; session?: string; summary?: { resource?: string } };
  [key: string]: unknown;
}

function readLine(frame: Frame): Line {
  const message = messageOf(frame);
  const plain = { serverSeq: undefined, id: "", about: "" };
  if (!message) return { ...plain, kind: "note", name: frame.text };
  const id = message.id === undefined || message.id === null ? "" : String(message.id);
  const params = (message.params ?? {}) as Fields;
  if (message.error)
    return { ...plain, kind: "error", name: String(message.error.code), id, about: message.error.message };
  if (message.method === undefined) return { ...plain, kind: "response", name: "", id };
  if (params.action) {
    const about = params.rejectionReason ?? params.action.session ?? params.action.terminal ?? "";
    const kind = params.rejectionReason ? "rejection" : "action";
    return { kind, name: params.action.type ?? "", serverSeq: params.serverSeq, id: "", about };
  }
  if (params.notification) {
    const { type = "", session, summary } = params.notification;
    return { ...plain, kind: "notification", name: type, about: session ?? summary?.resource ?? "" };
  }
  const about = [params["session"], params["resource"], params["terminal"], params["uri"]].find(
    (one) => typeof one === "string",
  );
  return {
    ...plain,
    kind: id ? "request" : "notification",
    name: message.method,
    id,
    about: (about as string | undefined) ?? "",
  };
}

/** Give the frames that fit. Text is looked for in the message as it was sent; every word has to be there. */
export function filterFrames(frames: readonly Frame[], filter: WireFilter): readonly Frame[] {
  const words = filter.text.toLowerCase().split(/\s+/).filter(Boolean);
  if (words.length === 0 && filter.direction === "both" && filter.kind === "all") return frames;
  return frames.filter((frame) => {
    if (filter.direction !== "both" && frame.kind !== filter.direction) return false;
    if (filter.kind !== "all" && lineOf(frame).kind !== filter.kind) return false;
    if (words.length === 0) return true;
    const text = frame.text.toLowerCase();
    return words.every((word) => text.includes(word));
  });
}

/** Name the requests that answers belong to: by direction and id, as each side counts for itself. */
export function requestNames(frames: readonly Frame[], names: Map<string, string>, from: number): number {
  let last = from;
  for (let at = frames.length - 1; at >= 0 && frames[at]!.n > from; at--) {
    const frame = frames[at]!;
    last = Math.max(last, frame.n);
    if (frame.kind === "note" || (frame.kind === "in" && frame.text.includes('"action"'))) continue;
    const line = lineOf(frame);
    if (line.kind === "request") names.set(`${frame.kind} ${line.id}`, line.name);
  }
  return last;
}
