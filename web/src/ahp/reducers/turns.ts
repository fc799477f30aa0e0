/** Turns: how they start, grow, end and are cut off. */

import type { Action, ActiveTurn, ErrorInfo, SessionState, Turn } from "../wire";
import { Status } from "../wire";
import { orNothing, pick, put, replaceAt } from "./records";
import { statusOf, summarise } from "./status";
import { skip } from "./toolcalls";

type Of<Type extends Action["type"]> = Extract<Action, { type: Type }>;

/** Give the running turn, if it is the one that an action means. */
export function matchingTurn(state: SessionState, action: { turnId: string }): ActiveTurn | undefined {
  const turn = state.activeTurn;
  return turn?.id === action.turnId ? turn : undefined;
}

/** It takes the place of a turn that still runs; the message leaves the queue. */
export function turnStarted(
  state: SessionState,
  action: Of<"session/turnStarted">,
  now: number,
): SessionState {
  const { turnId, userMessage, queuedMessageId } = action;
  const started = { ...state, activeTurn: { id: turnId, userMessage, responseParts: [] } };
  const status = statusOf(started) & ~Status.IsRead;
  const marked = summarise(started, { status, modifiedAt: now });
  return queuedMessageId ? take(marked, queuedMessageId) : marked;
}

function take(state: SessionState, id: string): SessionState {
  const { steeringMessage, queuedMessages } = state;
  const steered = steeringMessage?.id === id ? put(state, { steeringMessage: null }) : state;
  if (!queuedMessages) return steered;
  const left = queuedMessages.filter((message) => message.id !== id);
  return put(steered, { queuedMessages: orNothing(left) });
}

/** Text grows by `+`, which does not copy: engines join such strings when somebody reads them, once. */
export function grow(
  state: SessionState,
  action: Of<"session/delta" | "session/reasoning">,
  kind: "markdown" | "reasoning",
): SessionState {
  const turn = matchingTurn(state, action);
  if (!turn) return state;
  const place = placeOf(turn, action.partId);
  const part = turn.responseParts[place];
  if (part?.kind !== kind) return state;
  const longer = { ...part, content: part.content + action.content };
  const responseParts = replaceAt(turn.responseParts, place, longer);
  return { ...state, activeTurn: { ...turn, responseParts } };
}

/** Find the first part of an id, whatever it is; parts without an id are never meant. */
function placeOf(turn: ActiveTurn, id: string): number {
  return turn.responseParts.findIndex((part) =>
    part.kind === "toolCall" ? part.toolCall.toolCallId === id : "id" in part && part.id === id,
  );
}

export function responsePart(state: SessionState, action: Of<"session/responsePart">): SessionState {
  const turn = matchingTurn(state, action);
  if (!turn) return state;
  return { ...state, activeTurn: { ...turn, responseParts: [...turn.responseParts, action.part] } };
}

export function usage(state: SessionState, action: Of<"session/usage">): SessionState {
  const turn = matchingTurn(state, action);
  return turn ? { ...state, activeTurn: put(turn, { usage: action.usage }) } : state;
}

/** The running turn becomes a record; what was open in it is closed. */
export function end(
  state: SessionState,
  action: { turnId: string; error?: ErrorInfo },
  now: number,
  outcome: Turn["state"],
  activity?: number,
): SessionState {
  const turn = matchingTurn(state, action);
  if (!turn) return state;
  const record: Turn = {
    ...pick(turn, "id", "userMessage"),
    responseParts: turn.responseParts.map(skip),
    ...pick(turn, "usage"),
    state: outcome,
    ...pick(action, "error"),
  };
  const ended = put(state, { turns: [...state.turns, record], activeTurn: null, inputRequests: null });
  return summarise(ended, { status: statusOf(ended, activity), modifiedAt: now });
}

/** Keep the turns up to the one named, or none; what was running is dropped. */
export function truncated(state: SessionState, action: Of<"session/truncated">, now: number): SessionState {
  const { turnId = null } = action;
  const place = turnId === null ? -1 : state.turns.findIndex((turn) => turn.id === turnId);
  if (turnId !== null && place < 0) return state;
  const turns = state.turns.slice(0, place + 1);
  const cut = put(state, { turns, activeTurn: null, inputRequests: null });
  return summarise(cut, { status: statusOf(cut), modifiedAt: now });
}
