/** What views rely on: what did not change is the same object. Which state follows is in `fixtures.test.ts`. */

import { expect, test } from "vitest";
import { reduceSession, reduceTerminal } from "../src/ahp/reducers";
import type { Action, ResponsePart, SessionState, TerminalState } from "../src/ahp/wire";
import { SESSION, sessionState } from "./hosting";

const part = (id: string): ResponsePart => ({ kind: "markdown", id, content: "" });
const delta = (partId: string, content: string, turnId = "t"): Action => ({
  type: "session/delta",
  session: SESSION,
  turnId,
  partId,
  content,
});

function inTurn(...responseParts: ResponsePart[]): SessionState {
  return sessionState({ activeTurn: { id: "t", userMessage: { text: "Hi" }, responseParts } });
}

test("a piece of text changes its part, its turn and the session, and nothing else", () => {
  const before = inTurn(part("a"), part("b"));
  const after = reduceSession(before, delta("b", "x"), 1);
  expect(after.activeTurn?.responseParts[1]).toMatchObject({ content: "x" });
  expect(after.activeTurn?.responseParts[0]).toBe(before.activeTurn?.responseParts[0]);
  expect(after.activeTurn?.userMessage).toBe(before.activeTurn?.userMessage);
  expect(after.turns).toBe(before.turns);
  expect(after.summary).toBe(before.summary);
});

test("what does not apply gives the very same state", () => {
  const before = inTurn(part("a"));
  const late: Action[] = [
    delta("a", "x", "other"),
    delta("none", "x"),
    { type: "session/turnComplete", session: SESSION, turnId: "other" },
    { type: "session/toolCallContentChanged", session: SESSION, turnId: "t", toolCallId: "x", content: [] },
    { type: "session/inputCompleted", session: SESSION, requestId: "x", response: "accept" },
    { type: "session/truncated", session: SESSION, turnId: "none" },
    { type: "session/notYetInvented", session: SESSION } as never,
    { type: "terminal/cleared", terminal: "t:/1" },
  ];
  for (const action of late) expect(reduceSession(before, action, 1)).toBe(before);
});

test("a turn that ends keeps the turns before it, and the parts of its own that were done", () => {
  const first = reduceSession(inTurn(part("a")), delta("a", "x"), 1);
  const ended = reduceSession(first, { type: "session/turnComplete", session: SESSION, turnId: "t" }, 1);
  const message = { text: "More" };
  const again: Action = { type: "session/turnStarted", session: SESSION, turnId: "u", userMessage: message };
  const second = reduceSession(ended, again, 1);
  const both = reduceSession(second, { type: "session/turnCancelled", session: SESSION, turnId: "u" }, 1);
  expect(ended.turns[0]?.responseParts[0]).toBe(first.activeTurn?.responseParts[0]);
  expect(both.turns[0]).toBe(ended.turns[0]);
});

test("output of a terminal leaves the commands before it as they are", () => {
  const start: TerminalState = { title: "sh", content: [], claim: { kind: "client", clientId: "me" } };
  const terminal = "t:/1";
  const log: Action[] = [
    { type: "terminal/commandExecuted", terminal, commandId: "1", commandLine: "ls", timestamp: 1 },
    { type: "terminal/data", terminal, data: "a\n" },
    { type: "terminal/commandFinished", terminal, commandId: "1", exitCode: 0 },
    { type: "terminal/data", terminal, data: "$ " },
  ];
  const before = log.reduce(reduceTerminal, start);
  const after = reduceTerminal(before, { type: "terminal/data", terminal, data: "l" });
  expect(after.content).toHaveLength(2);
  expect(after.content[0]).toBe(before.content[0]);
});
