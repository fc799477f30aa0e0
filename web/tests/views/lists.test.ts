import { expect, test } from "vitest";
import { type ChatState, type SessionSummary, Status } from "../../src/ahp/wire";
import { news } from "../../src/views/conversation/announcer";
import { kindOf, pathOf } from "../../src/views/diffs/edits";
import { childOf, parentOf } from "../../src/views/files/paths";
import { contentOf } from "../../src/views/files/reading";
import { piecesOf } from "../../src/views/parts/code";
import {
  activityOf,
  ago,
  baseName,
  fileNameOf,
  filterSessions,
  periodOf,
  splitAtWords,
} from "../../src/views/sessions/summaries";
import { lastLines } from "../../src/views/terminals/plain";
import { chatState, TIME } from "../hosting";

function summary(title: string, status: number, day = 1): SessionSummary {
  const times = { createdAt: TIME, modifiedAt: `2026-01-0${day}T00:00:00.000Z` };
  return { resource: `demo:/${title}`, provider: "demo", title, status, ...times };
}

test("a status is a set of bits, of which those that nobody knows do not matter", () => {
  expect(activityOf(Status.Idle | Status.IsRead | 512)).toBe("idle");
  expect(activityOf(Status.InProgress)).toBe("running");
  expect(activityOf(Status.InputNeeded | Status.IsArchived)).toBe("needs input");
  expect(activityOf(Status.Error)).toBe("error");
});

test("sessions are found by every word, the newest first, archived ones apart", () => {
  const all = [
    summary("Fix the parser", 1, 1),
    summary("A parser", 1, 2),
    summary("Old parser", 1 | Status.IsArchived, 3),
  ];
  const titles = (text: string, archived = false) =>
    filterSessions(all, { text, archived }).map((one) => one.title);
  expect(titles("")).toEqual(["A parser", "Fix the parser"]);
  expect(titles("PARSER fix")).toEqual(["Fix the parser"]);
  expect(titles("parser demo", true)).toEqual(["Old parser"]);
  expect(titles("nothing")).toEqual([]);
});

test("sessions are found by their folder, their model and the titles of their chats too", () => {
  const chats = [{ resource: "ahp-chat:/2", title: "A side issue" }];
  const one = {
    ...summary("One", 1),
    workingDirectories: ["file:///projects/ann/parser"],
    chats,
    _meta: { "agenthost.model": { id: "swift-2" } },
  };
  for (const text of ["ann parser", "SWIFT-2", "side issue"])
    expect(filterSessions([one, summary("Two", 1)], { text, archived: false })).toEqual([one]);
});

test("sessions in which the words were said fit too, archived ones apart", () => {
  const all = [summary("One", 1, 1), summary("Two", 1, 2), summary("Old", 1 | Status.IsArchived, 3)];
  const found = new Set(["demo:/One", "demo:/Old"]);
  const titles = (archived: boolean) =>
    filterSessions(all, { text: "needle", archived, found }).map((one) => one.title);
  expect(titles(false)).toEqual(["One"]);
  expect(titles(true)).toEqual(["Old"]);
});

test("what was searched for is found again in an excerpt, whatever signs it has", () => {
  expect(splitAtWords("The Needle (in hay)", "needle (in")).toEqual(["The ", "Needle", " ", "(in", " hay)"]);
  expect(splitAtWords("a.b axb", "a.b")).toEqual(["", "a.b", " axb"]);
  expect(splitAtWords("as it is", " ")).toEqual(["as it is"]);
});

test("a list is parted by days, weeks and months, which begin at midnight", () => {
  const now = new Date(2024, 2, 15, 9, 30).getTime();
  const at = (...date: [number, number, number, number?, number?]) =>
    periodOf(new Date(...date).getTime(), now);
  expect(at(2024, 2, 15, 0, 0)).toBe("Today");
  expect(at(2024, 2, 14, 23, 59)).toBe("Yesterday");
  expect(at(2024, 2, 13, 23, 59)).toBe("Previous 7 days");
  expect(at(2024, 2, 8)).toBe("Previous 7 days");
  expect(at(2024, 2, 7, 23, 59)).toBe("Previous 30 days");
  expect(at(2024, 0, 3)).toMatch(/2024/);
  expect(at(2024, 0, 3)).not.toBe(at(2023, 11, 31));
  expect(at(2024, 2, 16)).toBe("Today"); // a host whose clock is ahead
});

test("a file is named after its session, without anything that a file system could object to", () => {
  const named = (title: string) => fileNameOf(summary(title, 1));
  expect(named("Fix: the ../parser?")).toBe("Fix-the-parser");
  expect(named("שלום עולם")).toBe("שלום-עולם");
  expect(named("a".repeat(300))).toHaveLength(60);
  expect(fileNameOf({ ...summary("", 1), resource: "demo:/1" })).toBe("demo-1");
});

test("times and names are short", () => {
  const minute = 60_000;
  expect([0, 5 * minute, 3 * 60 * minute, 50 * 60 * minute].map((age) => ago(0, age))).toEqual([
    "now",
    "5 min",
    "3 h",
    "2 d",
  ]);
  expect(baseName("file:///a/my%20notes.txt")).toBe("my notes.txt");
  expect(baseName("file:///a/%ff")).toBe("%ff");
  expect(pathOf("file:///a/b/c%20d.txt", "file:///a/")).toBe("b/c d.txt");
  expect(pathOf("file:///x/y", "file:///a")).toBe("/x/y");
});

test("folders have parents up to the top, and names are encoded", () => {
  expect(parentOf("file:///a/b")).toBe("file:///a");
  expect(parentOf("file:///a")).toBe("file:///");
  expect(parentOf("file:///")).toBeUndefined();
  expect(childOf("file:///a/", "b c#d")).toBe("file:///a/b%20c%23d");
});

test("a change of a file is told by the sides that it has", () => {
  const side = (uri: string) => ({ uri, content: { uri: `${uri}#` } });
  expect(kindOf({ after: side("a") })).toBe("created");
  expect(kindOf({ after: side("a"), diff: { removed: 2 } })).toBe("edited");
  expect(kindOf({ before: side("a") })).toBe("deleted");
  expect(kindOf({ before: side("a"), after: side("b") })).toBe("renamed");
  expect(kindOf({ before: side("a"), after: side("a") })).toBe("edited");
});

test("what was read is text, a picture, or bytes", () => {
  expect(contentOf({ data: "x", encoding: "utf-8" }, "a.txt")).toMatchObject({ kind: "text", text: "x" });
  expect(contentOf({ data: "AAAA", encoding: "base64" }, "a.PNG")).toMatchObject({ kind: "image" });
  expect(contentOf({ data: "AAAA", encoding: "base64" }, "a.bin")).toMatchObject({ kind: "bytes", size: 3 });
  expect(contentOf({ data: "<p>", encoding: "utf-8", contentType: "text/html" }, "a")).toMatchObject({
    kind: "text",
  });
});

test("long code is taken apart after lines, and nothing of it is lost", () => {
  for (const lines of [0, 1, 63, 64, 65, 200]) {
    for (const end of ["", "\n"]) {
      const text = Array.from({ length: lines }, (_, at) => `line ${at}`).join("\n") + end;
      const pieces = piecesOf(text);
      expect(pieces.join("")).toBe(text);
      expect(Math.max(...pieces.map((piece) => piece.split("\n").length))).toBeLessThanOrEqual(65);
    }
  }
});

test("output of a terminal reads as plain text", () => {
  expect(lastLines("\u001b[1;32mok\u001b[0m\r\n\u001b]0;title\u0007done\r\n", 5)).toBe("ok\ndone");
  expect(lastLines("10%\r50%\r100%\n", 5)).toBe("100%");
  expect(lastLines("a\nb\nc\nd", 2)).toBe("c\nd");
});

test("a screen reader hears what began, ended or is needed, and nothing of the rest", () => {
  const idle = chatState();
  const turn = {
    id: "t",
    startedAt: TIME,
    message: { text: "Hi", origin: { kind: "user" } },
    responseParts: [],
  } as const;
  const part = (content: string) => ({ kind: "markdown", id: "p", content }) as const;
  const request = { kind: "inputRequest", request: { id: "r", message: "Which?" } } as const;
  const failure = { kind: "error", error: { errorType: "e", message: "No more" } } as const;
  const running: ChatState = { ...idle, activeTurn: turn };
  const longer: ChatState = { ...idle, activeTurn: { ...turn, responseParts: [part("Hello")] } };
  const asked: ChatState = { ...idle, activeTurn: { ...turn, responseParts: [request] } };
  const ended = (state: "complete" | "error", ...responseParts: ReturnType<typeof part>[]): ChatState => ({
    ...idle,
    turns: [{ ...turn, responseParts: state === "error" ? [failure] : responseParts, state }],
  });
  expect(news(idle, running)).toBe("Answering");
  expect(news(running, longer)).toBeUndefined();
  expect(news(longer, ended("complete", part("Hello there")))).toBe("Answered: Hello there");
  expect(news(longer, ended("error"))).toBe("The turn failed: No more");
  expect(news(running, asked)).toBe("The agent asks: Which?");
  expect(news(asked, asked)).toBeUndefined();
  expect(news(running, { ...asked, resource: "ahp-chat:/other" })).toBeUndefined();
});
