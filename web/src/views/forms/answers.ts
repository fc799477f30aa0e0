/** Answers to questions: entries as values of the protocol, and their errors. */
import type { ChatInputAnswer, ChatInputAnswerValue, ChatInputQuestion } from "../../ahp/wire";

/** The entry of a field while it is edited: as typed, so that it can be half a number. */
export interface Entry {
  readonly text?: string;
  readonly yes?: boolean;
  readonly chosen?: readonly string[];
  readonly other?: string;
}

/** Return the initial entry of a field: the existing answer, the question's default, or nothing. */
export function entryFor(question: ChatInputQuestion, answer: ChatInputAnswer | undefined): Entry {
  if (answer && answer.state !== "skipped") return entryOf(answer.value);
  switch (question.kind) {
    case "text":
      return { text: question.defaultValue ?? "" };
    case "number":
    case "integer":
      return { text: question.defaultValue === undefined ? "" : String(question.defaultValue) };
    case "boolean":
      return question.defaultValue === undefined ? {} : { yes: question.defaultValue };
    default:
      return { chosen: [] };
  }
}

function entryOf(value: ChatInputAnswerValue): Entry {
  switch (value.kind) {
    case "text":
      return { text: value.value };
    case "number":
      return { text: String(value.value) };
    case "boolean":
      return { yes: value.value };
    case "selected":
      return { chosen: value.value === "" ? [] : [value.value], other: value.freeformValues?.[0] ?? "" };
    case "selected-many":
      return { chosen: value.value, other: value.freeformValues?.join(", ") ?? "" };
  }
}

/** Return the value of an entry; nothing if it is empty or invalid. */
export function valueOf(question: ChatInputQuestion, entry: Entry): ChatInputAnswerValue | undefined {
  switch (question.kind) {
    case "text":
      return entry.text ? { kind: "text", value: entry.text } : undefined;
    case "number":
    case "integer":
      return numberValue(entry.text ?? "");
    case "boolean":
      return entry.yes === undefined ? undefined : { kind: "boolean", value: entry.yes };
    case "single-select": {
      const [value = ""] = entry.chosen ?? [];
      const other = freeform(entry.other, false);
      if (!value && other.length === 0) return undefined;
      return { kind: "selected", value, ...(other.length > 0 && { freeformValues: other }) };
    }
    case "multi-select": {
      const value = [...(entry.chosen ?? [])];
      const other = freeform(entry.other, true);
      if (value.length + other.length === 0) return undefined;
      return { kind: "selected-many", value, ...(other.length > 0 && { freeformValues: other }) };
    }
  }
}

function numberValue(text: string): ChatInputAnswerValue | undefined {
  const number = Number(text.trim().replace(",", "."));
  return text.trim() === "" || !Number.isFinite(number) ? undefined : { kind: "number", value: number };
}

function freeform(text: string | undefined, isMany: boolean): string[] {
  const pieces = isMany ? (text ?? "").split(",") : [text ?? ""];
  return pieces.map((piece) => piece.trim()).filter(Boolean);
}

/** Return what is wrong with an entry; nothing if it is valid. */
export function problemWith(question: ChatInputQuestion, entry: Entry): string | undefined {
  const value = valueOf(question, entry);
  if (value === undefined) {
    if (entry.text?.trim()) return "That is not a number.";
    return question.required ? "This has to be answered." : undefined;
  }
  switch (question.kind) {
    case "text":
      return textProblem(question, (entry.text ?? "").length);
    case "number":
    case "integer":
      return numberProblem(question, value.value as number);
    case "multi-select":
      return countProblem(question, (entry.chosen ?? []).length + freeform(entry.other, true).length);
    default:
      return undefined;
  }
}

interface Bounds {
  readonly min?: number;
  readonly max?: number;
}

function textProblem({ min, max }: Bounds, length: number): string | undefined {
  if (min !== undefined && length < min) return `At least ${min} characters are needed.`;
  return max !== undefined && length > max
    ? `At most ${max} characters fit; these are ${length}.`
    : undefined;
}

function numberProblem({ kind, min, max }: Bounds & { kind: string }, value: number): string | undefined {
  if (kind === "integer" && !Number.isInteger(value)) return "A whole number is needed.";
  if (min !== undefined && value < min) return `At least ${min} is needed.`;
  return max !== undefined && value > max ? `At most ${max} is allowed.` : undefined;
}

function countProblem({ min, max }: Bounds, count: number): string | undefined {
  if (min !== undefined && count < min) return `Choose at least ${min}.`;
  return max !== undefined && count > max ? `Choose at most ${max}; ${count} are chosen.` : undefined;
}

/** Return in a few words what a question accepts. */
export function hintFor(question: ChatInputQuestion): string {
  const { min, max } = question as Bounds;
  if (question.kind === "boolean" || question.kind === "single-select") return "";
  if (min === undefined && max === undefined) return question.kind === "integer" ? "A whole number" : "";
  const what = { text: "characters", number: "", integer: "whole number", "multi-select": "choices" }[
    question.kind
  ];
  if (min !== undefined && max !== undefined) return `${min} to ${max} ${what}`.trim();
  return (min !== undefined ? `At least ${min} ${what}` : `At most ${max} ${what}`).trim();
}
