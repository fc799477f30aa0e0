/**
 * What views rely on: what did not change is the same object; and the rules that people notice.
 *
 * Which state follows in every case is in `fixtures.test.ts`.
 */

import { expect, test } from "vitest";
import { reduceChangeset, reduceChat, reduceSession, reduceTerminal } from "../src/ahp/reducers";
import {
  type Action,
  type ChangesetState,
  type ChatState,
  type Message,
  type ResponsePart,
  type SessionInputRequest,
  Status,
  type TerminalState,
  type Turn,
} from "../src/ahp/wire";
import { CHAT, chatState, sessionState, TIME } from "./hosting";

const message: Message = { text: "Hi", origin: { kind: "user" } };
const part = (id: string): ResponsePart => ({ kind: "markdown", id, content: "" });
const delta = (partId: string, content: string, turnId = "t"): Action => ({
  type: "chat/delta",
  turnId,
  partId,
  content,
});
const complete = (turnId: string): Action => ({ type: "chat/turnComplete", turnId, duration: 1500 });

function inTurn(...responseParts: ResponsePart[]): ChatState {
  return chatState({
    status: Status.InProgress,
    activeTurn: { id: "t", startedAt: TIME, message, responseParts },
  });
}

test("a piece of text changes its part, its turn and the chat, and nothing else", () => {
  const before = inTurn(part("a"), part("b"));
  const after = reduceChat(before, delta("b", "x"));
  expect(after.activeTurn?.responseParts[1]).toMatchObject({ content: "x" });
  expect(after.activeTurn?.responseParts[0]).toBe(before.activeTurn?.responseParts[0]);
  expect(after.activeTurn?.message).toBe(before.activeTurn?.message);
  expect(after.turns).toBe(before.turns);
});

test("what does not apply gives the very same state", () => {
  const before = inTurn(part("a"));
  const late: Action[] = [
    delta("a", "x", "other"),
    delta("none", "x"),
    complete("other"),
    { type: "chat/toolCallContentChanged", turnId: "t", toolCallId: "x", content: [] },
    { type: "chat/toolCallConfirmed", turnId: "t", toolCallId: "x", approved: true, confirmed: "setting" },
    { type: "chat/inputCompleted", requestId: "x", response: "accept" },
    { type: "chat/truncated", turnId: "none" },
    { type: "chat/turnResume", turnId: "t" },
    {
      type: "chat/responsePart",
      turnId: "t",
      part: { kind: "error", error: { errorType: "e", message: "" } },
    },
    { type: "chat/pendingMessageRemoved", kind: "queued", id: "x" },
    { type: "chat/backgroundWorkRemoved", id: "x" },
    { type: "chat/notYetInvented" } as never,
    { type: "terminal/cleared" },
  ];
  for (const action of late) expect(reduceChat(before, action)).toBe(before);
});

test("what a session has not got is left as it is", () => {
  const before = sessionState({ activeClients: [], workingDirectories: ["file:///a"] });
  const late: Action[] = [
    { type: "session/chatRemoved", chat: "ahp-chat:/none" },
    { type: "session/chatUpdated", chat: "ahp-chat:/none", changes: { status: 8 } },
    { type: "session/chatsReordered", chats: [] },
    { type: "session/activeClientRemoved", clientId: "none" },
    { type: "session/inputNeededRemoved", id: "none" },
    { type: "session/workingDirectorySet", directory: "file:///a" },
    { type: "session/workingDirectoryRemoved", directory: "file:///none" },
    { type: "session/customizationToggled", id: "none", enablement: [] },
    { type: "session/customizationRemoved", id: "none" },
    { type: "session/mcpServerStopRequested", id: "none" },
    { type: "session/configChanged", config: { a: 1 } },
    delta("a", "x"),
  ];
  for (const action of late) expect(reduceSession(before, action)).toBe(before);
});

test("a turn that ends keeps the turns before it, and the parts of its own that were done", () => {
  const first = reduceChat(inTurn(part("a")), delta("a", "x"));
  const ended = reduceChat(first, complete("t"));
  const second = reduceChat(ended, { type: "chat/turnStarted", turnId: "u", startedAt: TIME, message });
  const both = reduceChat(second, { type: "chat/turnCancelled", turnId: "u", duration: -3 });
  expect(ended.turns[0]?.responseParts[0]).toBe(first.activeTurn?.responseParts[0]);
  expect(ended).toMatchObject({ modifiedAt: "2026-01-01T00:00:01.500Z", status: Status.Idle });
  expect(both.turns[0]).toBe(ended.turns[0]);
  expect(both.turns[1]).toMatchObject({ state: "cancelled", duration: 0 });
});

test("a turn that failed ends with why, and goes on from there only if it can and is the last", () => {
  const failed = (resumable: boolean) =>
    reduceChat(inTurn(part("a")), {
      type: "chat/error",
      turnId: "t",
      duration: 1,
      part: { kind: "error", error: { errorType: "e", message: "no" }, resumable },
    });
  const resume: Action = { type: "chat/turnResume", turnId: "t" };
  expect(failed(true)).toMatchObject({ status: Status.Error, turns: [{ id: "t", state: "error" }] });
  expect(failed(true).activeTurn).toBeUndefined();
  const again = reduceChat(failed(true), resume);
  expect(again).toMatchObject({ status: Status.InProgress, turns: [] });
  expect(again.activeTurn?.responseParts.map(({ kind }) => kind)).toEqual(["markdown", "error"]);
  const final = failed(false);
  expect(reduceChat(final, resume)).toBe(final);
  const other: Turn = { id: "u", message, responseParts: [], state: "complete" };
  const followed = { ...failed(true), turns: [...failed(true).turns, other] };
  expect(reduceChat(followed, resume)).toBe(followed);
});

test("a question is a part of its turn: it waits until it is answered, and then stays with the answers", () => {
  const ask: Action = { type: "chat/inputRequested", request: { id: "r", message: "Which?" } };
  expect(reduceChat(chatState(), ask).turns).toEqual([]);
  const answer = { state: "draft", value: { kind: "text", value: "this" } } as const;
  const draft: Action = { type: "chat/inputAnswerChanged", requestId: "r", questionId: "q", answer };
  const asked = reduceChat(reduceChat(inTurn(part("a")), ask), draft);
  expect(asked.status).toBe(Status.InputNeeded);
  const askedAgain = reduceChat(asked, ask);
  expect(askedAgain.activeTurn?.responseParts).toHaveLength(2);
  const done = reduceChat(askedAgain, { type: "chat/inputCompleted", requestId: "r", response: "accept" });
  expect(done.status).toBe(Status.InProgress);
  expect(done.activeTurn?.responseParts[1]).toEqual({
    kind: "inputRequest",
    request: { id: "r", message: "Which?", answers: { q: answer } },
    response: "accept",
  });
});

test("a session has chats, of which one can go, and what waits in them makes it need input", () => {
  const needs = (kind: "chatInput" | "toolClientExecution") =>
    ({
      type: "session/inputNeededSet",
      request: { id: kind, chat: CHAT, kind } as SessionInputRequest,
    }) as const;
  const running = reduceSession(sessionState(), needs("toolClientExecution"));
  expect(running.status).toBe(Status.Idle);
  const waiting = reduceSession(running, needs("chatInput"));
  expect(waiting.status).toBe(Status.InputNeeded);
  const { status, inputNeeded } = reduceSession(waiting, {
    type: "session/inputNeededRemoved",
    id: "chatInput",
  });
  expect([status, inputNeeded?.length]).toEqual([Status.InProgress, 1]);
  const without = reduceSession(waiting, { type: "session/chatRemoved", chat: CHAT });
  expect(without.chats).toEqual([]);
  expect(without).not.toHaveProperty("defaultChat");
});

test("customizations are switched at the top level, or inside of one that holds them", () => {
  const base = { uri: "file:///x", name: "x" };
  const server = {
    ...base,
    type: "mcpServer",
    id: "m",
    state: { kind: "starting", blocking: true },
  } as const;
  const skill = { ...base, type: "skill", id: "s" } as const;
  const plugin = { ...base, type: "plugin", id: "p", children: [skill, server] } as const;
  const before = sessionState({ customizations: [plugin] });
  const off = { kind: "session", enabled: false } as const;
  const toggle = (id: string): Action => ({ type: "session/customizationToggled", id, enablement: [off] });
  expect(reduceSession(before, toggle("p")).customizations?.[0]).toEqual({ ...plugin, enablement: [off] });
  expect(reduceSession(before, toggle("s")).customizations?.[0]).toMatchObject({
    children: [{ ...skill, enabled: false }, server],
  });
  const quiet = reduceSession(before, { type: "session/mcpServerBackgroundRequested", id: "m" });
  expect(quiet.customizations?.[0]).toMatchObject({ children: [skill, { state: { blocking: false } }] });
  expect(reduceSession(quiet, { type: "session/mcpServerBackgroundRequested", id: "m" })).toBe(quiet);
  expect(reduceSession(before, { type: "session/customizationRemoved", id: "m" }).customizations).toEqual([
    { ...plugin, children: [skill] },
  ]);
});

test("output of a terminal leaves the commands before it as they are", () => {
  const start: TerminalState = {
    title: "sh",
    content: [],
    claim: { kind: "client", clientId: "me" },
    lifecycle: { status: "running" },
  };
  const log: Action[] = [
    { type: "terminal/commandExecuted", commandId: "1", commandLine: "ls", timestamp: 1 },
    { type: "terminal/data", data: "a\n" },
    { type: "terminal/commandFinished", commandId: "1", exitCode: 0 },
    { type: "terminal/data", data: "$ " },
  ];
  const before = log.reduce(reduceTerminal, start);
  const after = reduceTerminal(before, { type: "terminal/data", data: "l" });
  expect(after.content).toHaveLength(2);
  expect(after.content[0]).toBe(before.content[0]);
  const ended = reduceTerminal(after, { type: "terminal/exited", exitCode: 3 });
  expect(ended.lifecycle).toEqual({ status: "exited", exitCode: 3 });
});

test("files of a changeset come, change, are looked at and go", () => {
  const file = (id: string) => ({ id, edit: {} });
  const start: ChangesetState = { status: "computing", files: [] };
  const log: Action[] = [
    { type: "changeset/fileSet", file: file("a") },
    { type: "changeset/fileSet", file: file("b") },
    { type: "changeset/filesReviewChanged", files: ["a"], reviewed: true },
    { type: "changeset/fileRemoved", fileId: "b" },
    { type: "changeset/statusChanged", status: "error", error: { errorType: "e", message: "no" } },
    { type: "changeset/statusChanged", status: "ready" },
  ];
  const end = log.reduce(reduceChangeset, start);
  expect(end).toEqual({ status: "ready", files: [{ ...file("a"), reviewed: true }] });
  expect(reduceChangeset(end, { type: "changeset/fileRemoved", fileId: "b" })).toBe(end);
});
