/** Input requests: what an agent asks the user, and the answers. */

import type { URI } from "./common";

interface QuestionBase {
  id: string;
  title?: string;
  message: string;
  required?: boolean;
}

export interface ChatInputOption {
  id: string;
  label: string;
  description?: string;
  recommended?: boolean;
}

/** `min` and `max` are lengths. */
export interface ChatInputTextQuestion extends QuestionBase {
  kind: "text";
  /** A hint, of an open set: email, uri, date, date-time, … */
  format?: string;
  min?: number;
  max?: number;
  defaultValue?: string;
}

export interface ChatInputNumberQuestion extends QuestionBase {
  kind: "number" | "integer";
  min?: number;
  max?: number;
  defaultValue?: number;
}

export interface ChatInputBooleanQuestion extends QuestionBase {
  kind: "boolean";
  defaultValue?: boolean;
}

export interface ChatInputSingleSelectQuestion extends QuestionBase {
  kind: "single-select";
  options: readonly ChatInputOption[];
  allowFreeformInput?: boolean;
}

/** `min` and `max` are how many may be selected. */
export interface ChatInputMultiSelectQuestion extends QuestionBase {
  kind: "multi-select";
  options: readonly ChatInputOption[];
  allowFreeformInput?: boolean;
  min?: number;
  max?: number;
}

export type ChatInputQuestion =
  | ChatInputTextQuestion
  | ChatInputNumberQuestion
  | ChatInputBooleanQuestion
  | ChatInputSingleSelectQuestion
  | ChatInputMultiSelectQuestion;

/** `number` answers numbers and integers, `selected` one choice (by its id), `selected-many` several. */
export type ChatInputAnswerValue =
  | { kind: "text"; value: string }
  | { kind: "number"; value: number }
  | { kind: "boolean"; value: boolean }
  | { kind: "selected"; value: string; freeformValues?: readonly string[] }
  | { kind: "selected-many"; value: readonly string[]; freeformValues?: readonly string[] };

export type ChatInputAnswer =
  | { state: "draft" | "submitted"; value: ChatInputAnswerValue }
  | { state: "skipped"; freeformValues?: readonly string[] };

/** Questions that the agent has for the user, and the answers so far. */
export interface ChatInputRequest {
  id: string;
  message?: string;
  url?: URI;
  questions?: readonly ChatInputQuestion[];
  answers?: Readonly<Record<string, ChatInputAnswer>>;
}

export type ChatInputResponse = "accept" | "decline" | "cancel";
