/** The status of a chat: its activity, derived from its state, and its flags. */

import { type ActiveTurn, type ChatState, type ResponsePart, Status } from "../wire";

/** Recompute the status, or set the given activity; the flags stay. */
export function statusOf(state: ChatState, activity?: number): number {
  return (state.status & ~Status.Activity) | (activity ?? activityOf(state.activeTurn));
}

export function refresh(state: ChatState): ChatState {
  const status = statusOf(state);
  return status === state.status ? state : { ...state, status };
}

function activityOf(turn: ActiveTurn | undefined): number {
  if (!turn) return Status.Idle;
  return turn.responseParts.some(isWaiting) ? Status.InputNeeded : Status.InProgress;
}

const WAITING = ["pending-confirmation", "pending-result-confirmation", "auth-required"];

function isWaiting(part: ResponsePart): boolean {
  if (part.kind === "inputRequest") return part.response === undefined || part.response === null;
  return part.kind === "toolCall" && WAITING.includes(part.toolCall.status);
}
