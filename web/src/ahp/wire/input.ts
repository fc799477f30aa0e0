/** Input requests: what an agent asks the user, and the answers. */

import type { URI } from "./common";

interface QuestionBase {
  id: string;
  title?: string;
  message: string;
  required?: boolean;
}

export interface SessionInputOption {
  id: string;
  label: string;
  description?: string;
  recommended?: boolean;
}

/** `min` and `max` are lengths. */
export interface SessionInputTextQuestion extends QuestionBase {
  kind: "text";
  /** A hint, of an open set: email, uri, date, date-time, … */
  format?: string;
  min?: number;
  max?: number;
  defaultValue?: string;
}

export interface SessionInputNumberQuestion extends QuestionBase {
  kind: "number" | "integer";
  min?: number;
  max?: number;
  defaultValue?: number;
}

export interface SessionInputBooleanQuestion extends QuestionBase {
  kind: "boolean";
  defaultValue?: boolean;
}

export interface SessionInputSingleSelectQuestion extends QuestionBase {
  kind: "single-select";
  options: readonly SessionInputOption[];
  allowFreeformInput?: boolean;
}

/** `min` and `max` are how many may be selected. */
export interface SessionInputMultiSelectQuestion extends QuestionBase {
  kind: "multi-select";
  options: readonly SessionInputOption[];
  allowFreeformInput?: boolean;
  min?: number;
  max?: number;
}

export type SessionInputQuestion =
  | SessionInputTextQuestion
  | SessionInputNumberQuestion
  | SessionInputBooleanQuestion
  | SessionInputSingleSelectQuestion
  | SessionInputMultiSelectQuestion;

/** `number` answers numbers and integers, `selected` one choice (by its id), `selected-many` several. */
export type SessionInputAnswerValue =
  | { kind: "text"; value: string }
  | { kind: "number"; value: number }
  | { kind: "boolean"; value: boolean }
  | { kind: "selected"; value: string; freeformValues?: readonly string[] }
  | { kind: "selected-many"; value: readonly string[]; freeformValues?: readonly string[] };

export type SessionInputAnswer =
  | { state: "draft" | "submitted"; value: SessionInputAnswerValue }
  | { state: "skipped"; freeformValues?: readonly string[] };

/** Questions that the agent has for the user, and the answers so far. */
export interface SessionInputRequest {
  id: string;
  message?: string;
  url?: URI;
  questions?: readonly SessionInputQuestion[];
  answers?: Readonly<Record<string, SessionInputAnswer>>;
}
