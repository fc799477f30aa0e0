/** The summary of a session: its status bits and when it last changed. */

import { type SessionState, type SessionSummary, Status } from "../wire";
import { put } from "./records";

type Changes = { [Key in keyof SessionSummary]?: SessionSummary[Key] | null | undefined };

export function summarise(state: SessionState, changes: Changes): SessionState {
  return { ...state, summary: put(state.summary, changes) };
}

/** Work out the status anew, or with what is given as its activity; the flags stay. */
export function statusOf(state: SessionState, activity?: number): number {
  return (state.summary.status & ~Status.Activity) | (activity ?? activityOf(state));
}

export function refresh(state: SessionState): SessionState {
  const status = statusOf(state);
  return status === state.summary.status ? state : summarise(state, { status });
}

export function flag(state: SessionState, bit: number, isOn: boolean): SessionState {
  const { status } = state.summary;
  return summarise(state, { status: isOn ? status | bit : status & ~bit });
}

function activityOf(state: SessionState): number {
  if (state.inputRequests?.length || isWaiting(state)) return Status.InputNeeded;
  return state.activeTurn ? Status.InProgress : Status.Idle;
}

function isWaiting(state: SessionState): boolean {
  return !!state.activeTurn?.responseParts.some(
    (part) =>
      part.kind === "toolCall" &&
      (part.toolCall.status === "pending-confirmation" ||
        part.toolCall.status === "pending-result-confirmation"),
  );
}
