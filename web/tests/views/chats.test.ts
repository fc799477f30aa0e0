import { expect, test } from "vitest";
import type { ChatState, ChatSummary, Message, SessionState } from "../../src/ahp/wire";
import { newsOfOthers } from "../../src/views/conversation/announcer";
import { answerText } from "../../src/views/conversation/askedview";
import {
  chatOf,
  listChats,
  nameOfChat,
  neighbourOf,
  NEW_CHAT,
  placeOf,
  sourceOf,
} from "../../src/views/conversation/chats";
import { draftFrom, messageOf, userMessage } from "../../src/views/conversation/drafts";
import {
  firstOffered,
  isOffered,
  isSameModel,
  lastModel,
  notedModel,
} from "../../src/views/conversation/models";
import { elapsed } from "../../src/views/conversation/times";
import { openRequests, waitingCalls, waitsForPerson } from "../../src/views/conversation/waiting";
import {
  changesetOf,
  countEdits,
  notedEdits,
  turnChangesetOf,
  turnsWithEdits,
} from "../../src/views/diffs/edits";
import { CHAT, chatState, sessionState, summary, TIME } from "../hosting";

function chat(name: string, more: Partial<ChatSummary> = {}): ChatSummary {
  return { resource: `ahp-chat:/${name}`, title: "", status: 1, modifiedAt: TIME, ...more };
}

const MAIN = chat("1");
const FORK = chat("fork", { origin: { kind: "fork", chat: CHAT, turnId: "t" } });
const OWN = chat("own", { title: "My own", origin: { kind: "user" } });
const SUB = chat("sub", { origin: { kind: "tool", chat: CHAT, toolCallId: "c" }, title: "Count" });
const HIDDEN = chat("hidden", { interactivity: "hidden" });

function session(...chats: ChatSummary[]): SessionState {
  return sessionState({ chats, defaultChat: MAIN.resource });
}

test("a session is looked at in the chat that is wanted, else in the one that it begins with", () => {
  expect(chatOf(session(FORK, MAIN), undefined)).toBe(MAIN.resource);
  expect(chatOf(session(FORK, MAIN), FORK.resource)).toBe(FORK.resource);
  const { defaultChat: _, ...without } = session(FORK);
  expect(chatOf(without, undefined)).toBe(FORK.resource);
  expect(chatOf({ ...without, chats: [] }, undefined)).toBeUndefined();
});

test("chats stand in a row if there are several, without those that tool calls made, unless one is there", () => {
  const all = session(FORK, SUB, MAIN, HIDDEN, OWN);
  expect(listChats(session(MAIN), MAIN.resource)).toEqual([]);
  expect(listChats(session(MAIN, SUB, HIDDEN), MAIN.resource)).toEqual([]);
  expect(listChats(all, MAIN.resource)).toEqual([MAIN, FORK, OWN]);
  expect(listChats(all, SUB.resource)).toEqual([MAIN, FORK, SUB, OWN]);
});

test("a chat without a title is named after how it was made, with a number if there are more such", () => {
  const other = chat("fork2", { origin: { kind: "fork", chat: CHAT, turnId: "u" } });
  const names = (...chats: ChatSummary[]) => chats.map((one) => nameOfChat(session(MAIN, ...chats), one));
  expect(nameOfChat(session(MAIN, FORK), MAIN)).toBe("Main");
  expect(names(FORK, OWN, SUB)).toEqual(["Fork", "My own", "Count"]);
  expect(names(FORK, other)).toEqual(["Fork 1", "Fork 2"]);
  expect(names(chat("plain"))).toEqual(["Chat"]);
});

test("a chat that is about to begin stands beside the others, and is none of them", () => {
  expect(chatOf(session(MAIN, FORK), NEW_CHAT)).toBe(MAIN.resource);
  expect(listChats(session(MAIN), NEW_CHAT)).toEqual([MAIN]);
});

test("a fork and a side chat come from another chat, which may be gone", () => {
  const from = (origin: ChatSummary["origin"], ...others: ChatSummary[]) =>
    sourceOf(session(MAIN, ...others), chat("x", origin && { origin }));
  const fork = { kind: "fork", chat: OWN.resource, turnId: "t" } as const;
  expect(from(fork, OWN)).toEqual({ words: "Fork of", chat: OWN.resource, name: "My own" });
  expect(from(fork)).toMatchObject({ chat: undefined, name: "a chat that was deleted" });
  const side = { kind: "sideChat", chat: MAIN.resource, turnId: "t", selection: { text: "that" } } as const;
  expect(from(side)).toMatchObject({ words: "Side chat about", name: "Main", selection: "that" });
  expect(from({ kind: "user" })).toBeUndefined();
  expect(from(undefined)).toBeUndefined();
});

test("the chat before or after another is found, up to the ends", () => {
  const all = session(FORK, MAIN, OWN);
  expect(neighbourOf(all, MAIN.resource, 1)).toBe(FORK.resource);
  expect(neighbourOf(all, OWN.resource, -1)).toBe(FORK.resource);
  expect(neighbourOf(all, OWN.resource, 1)).toBeUndefined();
  expect(neighbourOf(all, MAIN.resource, -1)).toBeUndefined();
});

test("another chat that begins to need input is told of, once, and the one that is shown is not", () => {
  const before = session(MAIN, OWN);
  const after = session({ ...MAIN, status: 24 }, { ...OWN, status: 24 });
  expect(newsOfOthers(before, after, MAIN.resource)).toBe("The chat My own needs input");
  expect(newsOfOthers(after, { ...after, chats: [...after.chats] }, MAIN.resource)).toBeUndefined();
  expect(newsOfOthers(before, session(MAIN, { ...OWN, status: 8 }), MAIN.resource)).toBeUndefined();
});

test("a subagent is found as a chat of a session, or as a session of its own", () => {
  const one = summary({ chats: [{ resource: SUB.resource, title: "" }] });
  expect(placeOf(SUB.resource, [one])).toEqual({ session: one.resource, chat: SUB.resource });
  expect(placeOf(one.resource, [one])).toEqual({ session: one.resource });
  expect(placeOf("ahp-chat:/none", [one])).toBeUndefined();
});

const said = (model?: string): Message => userMessage("Hi", model === undefined ? undefined : { id: model });

function chatWith(...models: (string | undefined)[]): ChatState {
  const turns = models.map((model, at) => ({
    id: String(at),
    message: said(model),
    responseParts: [],
    state: "complete" as const,
  }));
  return chatState({ turns });
}

test("the model is the last one that a message named", () => {
  expect(lastModel(chatWith())).toBeUndefined();
  expect(lastModel(chatWith("a", "b", undefined))).toEqual({ id: "b" });
  const activeTurn = { id: "t", startedAt: TIME, message: said("c"), responseParts: [] };
  expect(lastModel({ ...chatWith("a"), activeTurn })).toEqual({ id: "c" });
});

test("of several models the first that the agent has is taken, else the one that it begins with", () => {
  const models = ["a", "b"].map((id) => ({ id, provider: "demo", name: id.toUpperCase() }));
  expect(firstOffered(models, undefined, { id: "b", config: { x: 1 } }, { id: "a" })).toEqual({
    id: "b",
    config: { x: 1 },
  });
  expect(firstOffered(models, { id: "gone" })).toEqual({ id: "a" });
  expect(firstOffered([], { id: "a" })).toBeUndefined();
  const standIn = { id: "demo", provider: "demo", name: "Demo", _meta: { "agenthost.standIn": true } };
  expect([...models, standIn].filter(isOffered)).toEqual(models);
});

test("models are the same with the same settings, however those are ordered", () => {
  const one = { id: "a", config: { x: 1, y: "2" } };
  expect(isSameModel(one, { id: "a", config: { y: "2", x: 1 } })).toBe(true);
  expect(isSameModel(one, { id: "a" })).toBe(false);
  expect(isSameModel({ id: "a", config: {} }, { id: "a" })).toBe(true);
  expect(isSameModel(undefined, { id: "a" })).toBe(false);
  expect(notedModel({ "agenthost.model": { id: "a" } })).toEqual({ id: "a" });
  expect(notedModel({ "agenthost.model": "a" })).toBeUndefined();
});

test("a draft becomes a message of the user, with its model and what is attached", () => {
  const attachment = { type: "simple", label: "x" } as const;
  const draft = {
    text: " Look at @x ",
    attached: [
      { attachment, text: "@x" },
      { attachment, text: "@y" },
    ],
  };
  expect(messageOf(draft, { id: "a" })).toEqual({
    text: "Look at @x",
    origin: { kind: "user" },
    model: { id: "a" },
    attachments: [attachment],
  });
  expect(draftFrom({ ...said(), attachments: [attachment] })).toEqual({
    text: "Hi",
    attached: [{ attachment }],
  });
});

test("a duration is counted from when a turn began, and is never less than nothing", () => {
  const begun = Date.parse(TIME);
  expect(elapsed(TIME, begun + 1234)).toBe(1234);
  expect(elapsed(TIME, begun - 5)).toBe(0);
  expect(elapsed("no time", begun)).toBe(0);
});

test("a chat waits for a person while calls or questions are open in its running turn", () => {
  const call = { toolCallId: "c", toolName: "run", displayName: "Run", invocationMessage: "Run" };
  const toolCall = { ...call, status: "pending-confirmation" } as const;
  const auth = { reason: "required", resource: { resource: "r" } };
  const locked = { ...call, confirmed: "not-needed", status: "auth-required", auth } as const;
  const request = { id: "r" };
  const turn = (...responseParts: NonNullable<ChatState["activeTurn"]>["responseParts"]) =>
    chatState({ activeTurn: { id: "t", startedAt: TIME, message: said(), responseParts } });
  expect(waitingCalls(turn({ kind: "toolCall", toolCall }))).toEqual([toolCall]);
  expect(waitingCalls(turn({ kind: "toolCall", toolCall: locked }))).toEqual([locked]);
  expect(openRequests(turn({ kind: "inputRequest", request }))).toEqual([request]);
  expect(waitsForPerson(turn({ kind: "inputRequest", request }))).toBe(true);
  expect(waitsForPerson(turn({ kind: "inputRequest", request, response: "decline" }))).toBe(false);
  expect(waitsForPerson(chatState())).toBe(false);
});

test("what was answered is told in the words of the question", () => {
  const base = { id: "q", message: "?" };
  const options = [{ id: "a", label: "Apple" }, { id: "b", label: "Pear" }]; // prettier-ignore
  const many = { ...base, kind: "multi-select", options } as const;
  const submitted = (value: object) => ({ state: "submitted", value }) as never;
  expect(
    answerText(many, submitted({ kind: "selected-many", value: ["b", "x"], freeformValues: ["fig"] })),
  ).toBe("Pear, x, fig");
  expect(
    answerText({ ...base, kind: "single-select", options }, submitted({ kind: "selected", value: "a" })),
  ).toBe("Apple");
  expect(answerText({ ...base, kind: "boolean" }, submitted({ kind: "boolean", value: false }))).toBe("No");
  expect(answerText({ ...base, kind: "number" }, submitted({ kind: "number", value: 2.5 }))).toBe("2.5");
  expect(answerText(many, { state: "skipped" })).toBe("");
  expect(answerText(many, undefined)).toBe("");
});

test("the changes of a session are in the changeset of its kind that needs no turn", () => {
  const set = (changeKind: string, uriTemplate: string) => ({ label: "", changeKind, uriTemplate });
  const turns = set("turn", "ahp-changeset:/t/{turnId}");
  const dirty = set("uncommitted", "ahp-changeset:/dirty");
  const whole = set("session", "ahp-changeset:/all");
  expect(changesetOf(sessionState({ changesets: [turns, dirty, whole] }))).toBe("ahp-changeset:/all");
  expect(changesetOf(sessionState({ changesets: [turns, dirty] }))).toBe("ahp-changeset:/dirty");
  expect(changesetOf(sessionState({ changesets: [turns] }))).toBeUndefined();
  expect(changesetOf(sessionState())).toBeUndefined();
  const edit = { after: { uri: "file:///a", content: { uri: "x:/1" } } };
  expect(notedEdits({ "agenthost.diffs": [edit] })).toEqual([edit]);
  expect(notedEdits(undefined)).toEqual([]);
});

test("a further chat has changes of its own, and so has each turn", () => {
  const sets = (name: string) => [
    { label: "", changeKind: "session", uriTemplate: `${name}/all` },
    { label: "", changeKind: "turn", uriTemplate: `${name}/turn/{turnId}` },
  ];
  const state = sessionState({ changesets: sets("session"), defaultChat: CHAT });
  const first = chatState({ resource: CHAT });
  const other = chatState({ resource: "ahp-chat:/other", changesets: sets("other") });
  expect(changesetOf(state, first)).toBe("session/all");
  expect(changesetOf(state, other)).toBe("other/all");
  expect(changesetOf(state, chatState({ resource: "ahp-chat:/none" }))).toBeUndefined();
  expect(turnChangesetOf(state, first, "t")).toBe("session/turn/t");
  expect(turnChangesetOf(state, other, "t")).toBe("other/turn/t");
});

test("turns that changed files are found, and lines are counted", () => {
  const edit = { after: { uri: "file:///a", content: { uri: "x:/1" } }, diff: { added: 2, removed: 1 } };
  const call = { toolCallId: "c", toolName: "run", displayName: "Run", invocationMessage: "Run" };
  const done = { ...call, status: "completed", confirmed: "not-needed", success: true } as const;
  const toolCall = { ...done, pastTenseMessage: "Ran", content: [{ type: "fileEdit", ...edit }] } as never;
  const base = { message: said(), state: "complete" } as const;
  const turns = [
    { ...base, id: "1", responseParts: [] },
    { ...base, id: "2", responseParts: [{ kind: "toolCall", toolCall } as const] },
  ];
  expect(turnsWithEdits(chatState({ turns })).map(({ id }) => id)).toEqual(["2"]);
  expect(countEdits([edit, { after: edit.after }])).toEqual({ files: 2, additions: 2, deletions: 1 });
});
