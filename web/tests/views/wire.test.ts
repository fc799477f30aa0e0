import { expect, test } from "vitest";
import type { Frame } from "../../src/ahp/api";
import {
  EVERYTHING,
  filterFrames,
  type Line,
  lineOf,
  noteChannels,
  noteRequests,
  requestOf,
} from "../../src/views/wire/filter";

let count = 0;
function frame(kind: Frame["kind"], message: unknown): Frame {
  const text = typeof message === "string" ? message : JSON.stringify(message);
  return { n: ++count, at: 0, kind, text, size: text.length };
}

const CHAT = "ahp-chat:/1";
const ROOT = "ahp-root://";
const action = { type: "chat/delta", turnId: "t", partId: "p", content: "Hello" };
const envelope = { channel: CHAT, action, serverSeq: 7 };
const FRAMES = [
  frame("note", "connected"),
  frame("out", { jsonrpc: "2.0", id: 1, method: "subscribe", params: { channel: CHAT } }),
  frame("in", { jsonrpc: "2.0", id: 1, result: {} }),
  frame("in", { jsonrpc: "2.0", method: "action", params: envelope }),
  frame("in", { jsonrpc: "2.0", method: "action", params: { ...envelope, rejectionReason: "no" } }),
  frame("in", { jsonrpc: "2.0", id: 2, error: { code: -32001, message: "no such session" } }),
  frame("out", { jsonrpc: "2.0", method: "dispatchAction", params: { channel: CHAT, clientSeq: 1, action } }),
  frame("in", {
    jsonrpc: "2.0",
    method: "root/sessionRemoved",
    params: { channel: ROOT, session: "demo:/1" },
  }),
  frame("in", "no JSON"),
];

test("a frame is a line: its kind, its name, its number, what it is about", () => {
  expect(FRAMES.map((one) => lineOf(one).kind)).toEqual([
    "note",
    "request",
    "response",
    "action",
    "rejection",
    "error",
    "action",
    "notification",
    "note",
  ]);
  expect(lineOf(FRAMES[1]!)).toMatchObject({ name: "subscribe", id: "1", channel: CHAT, about: "" });
  expect(lineOf(FRAMES[3]!)).toMatchObject({ name: "chat/delta", serverSeq: 7, channel: CHAT });
  expect(lineOf(FRAMES[4]!)).toMatchObject({ channel: CHAT, about: "no" });
  expect(lineOf(FRAMES[5]!)).toMatchObject({ name: "-32001", about: "no such session" });
  expect(lineOf(FRAMES[7]!)).toMatchObject({
    name: "root/sessionRemoved",
    channel: ROOT,
    about: "demo:/1",
  });
});

test("frames are filtered by text, direction and kind, all at once", () => {
  const requests = new Map<string, Line>();
  noteRequests(FRAMES, requests, 0);
  const found = (filter: object) =>
    filterFrames(FRAMES, { ...EVERYTHING, ...filter }, requests).map((one) => FRAMES.indexOf(one));
  expect(filterFrames(FRAMES, EVERYTHING, requests)).toBe(FRAMES);
  expect(found({ direction: "out" })).toEqual([1, 6]);
  expect(found({ kind: "action" })).toEqual([3, 6]);
  expect(found({ kind: "action", direction: "in" })).toEqual([3]);
  expect(found({ text: "HELLO rejection" })).toEqual([4]);
  expect(found({ channel: CHAT })).toEqual([1, 2, 3, 4, 6]); // an answer is on the channel of its request
  expect(found({ channel: ROOT })).toEqual([7]);
});

test("answers are named after what was asked, by whom", () => {
  const requests = new Map<string, Line>();
  const last = noteRequests(FRAMES, requests, 0);
  expect([...requests].map(([key, { name }]) => [key, name])).toEqual([["out 1", "subscribe"]]);
  expect(requestOf(FRAMES[2]!, requests)).toMatchObject({ name: "subscribe", channel: CHAT });
  expect(requestOf(FRAMES[5]!, requests)).toBeUndefined();
  expect(last).toBe(FRAMES.at(-1)?.n);
  expect(noteRequests(FRAMES, requests, last)).toBe(last);
});

test("channels are noted as they are seen, each once", () => {
  const known = new Set<string>();
  noteChannels(FRAMES.slice(0, 7), known, 0);
  expect([...known]).toEqual([CHAT]);
  noteChannels(FRAMES, known, FRAMES[6]!.n);
  expect([...known]).toEqual([CHAT, ROOT]);
});
