import { expect, test } from "vitest";
import type { ChatInputQuestion } from "../../src/ahp/wire";
import { entryFor, hintFor, problemWith, valueOf } from "../../src/views/forms/answers";

const base = { id: "q", message: "?" };
const options = [
  { id: "a", label: "A" },
  { id: "b", label: "B" },
];

const TEXT: ChatInputQuestion = { ...base, kind: "text", required: true, min: 2, max: 4 };
const NUMBER: ChatInputQuestion = { ...base, kind: "number", min: 0.5, max: 2, defaultValue: 1.5 };
const INTEGER: ChatInputQuestion = { ...base, kind: "integer" };
const BOOLEAN: ChatInputQuestion = { ...base, kind: "boolean", defaultValue: false };
const ONE: ChatInputQuestion = { ...base, kind: "single-select", options };
const MANY: ChatInputQuestion = { ...base, kind: "multi-select", options, min: 1, max: 2 };

test("each kind of question has its kind of answer", () => {
  expect(valueOf(TEXT, { text: "abc" })).toEqual({ kind: "text", value: "abc" });
  expect(valueOf(NUMBER, { text: " 1,25 " })).toEqual({ kind: "number", value: 1.25 });
  expect(valueOf(INTEGER, { text: "0" })).toEqual({ kind: "number", value: 0 });
  expect(valueOf(BOOLEAN, { yes: false })).toEqual({ kind: "boolean", value: false });
  expect(valueOf(ONE, { chosen: ["b"] })).toEqual({ kind: "selected", value: "b" });
  expect(valueOf(MANY, { chosen: ["b", "a"], other: "c, d," })).toEqual({
    kind: "selected-many",
    value: ["b", "a"],
    freeformValues: ["c", "d"],
  });
});

test("what is empty, or no such thing, is no answer", () => {
  for (const question of [TEXT, NUMBER, INTEGER, ONE, MANY]) {
    expect(valueOf(question, { text: "", chosen: [] })).toBeUndefined();
  }
  expect(valueOf(BOOLEAN, {})).toBeUndefined();
  expect(valueOf(NUMBER, { text: "many" })).toBeUndefined();
  expect(valueOf(NUMBER, { text: "Infinity" })).toBeUndefined();
});

test("what is wrong is said in a sentence", () => {
  expect(problemWith(TEXT, { text: "" })).toBe("This has to be answered.");
  expect(problemWith(TEXT, { text: "a" })).toBe("At least 2 characters are needed.");
  expect(problemWith(TEXT, { text: "abcde" })).toBe("At most 4 characters fit; these are 5.");
  expect(problemWith(NUMBER, { text: "x" })).toBe("That is not a number.");
  expect(problemWith(NUMBER, { text: "0" })).toBe("At least 0.5 is needed.");
  expect(problemWith(NUMBER, { text: "3" })).toBe("At most 2 is allowed.");
  expect(problemWith(INTEGER, { text: "1.5" })).toBe("A whole number is needed.");
  expect(problemWith(INTEGER, { text: "" })).toBeUndefined();
  expect(problemWith(MANY, { chosen: ["a", "b"], other: "c" })).toBe("Choose at most 2; 3 are chosen.");
});

test("a field begins with the answer that is there, else with the default", () => {
  expect(entryFor(NUMBER, undefined)).toEqual({ text: "1.5" });
  expect(entryFor(BOOLEAN, undefined)).toEqual({ yes: false });
  expect(entryFor(NUMBER, { state: "draft", value: { kind: "number", value: 2 } })).toEqual({ text: "2" });
  expect(entryFor(NUMBER, { state: "skipped" })).toEqual({ text: "1.5" });
  const chosen = {
    state: "draft",
    value: { kind: "selected-many", value: ["a"], freeformValues: ["x", "y"] },
  } as const;
  expect(entryFor(MANY, chosen)).toEqual({ chosen: ["a"], other: "x, y" });
});

test("hints say what a question takes", () => {
  expect(hintFor(TEXT)).toBe("2 to 4 characters");
  expect(hintFor(NUMBER)).toBe("0.5 to 2");
  expect(hintFor(INTEGER)).toBe("A whole number");
  expect(hintFor(ONE)).toBe("");
});
