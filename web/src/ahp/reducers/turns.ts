/** Turns: they start, grow, end, are resumed and truncated. */

import type { ActionOf, ActiveTurn, ChatState, ErrorResponsePart, Turn } from "../wire";
import { Status } from "../wire";
import { takeMessage } from "./pending";
import { pick, put, replaceAt } from "./records";
import { refresh, statusOf } from "./status";
import { skip } from "./toolcalls";

/** Return the running turn, if an action is about it. */
export function matchingTurn(state: ChatState, action: { turnId: string }): ActiveTurn | undefined {
  const turn = state.activeTurn;
  return turn?.id === action.turnId ? turn : undefined;
}

/** It replaces a turn that still runs; the message leaves the queue. */
export function turnStarted(state: ChatState, action: ActionOf<"chat/turnStarted">): ChatState {
  const { turnId, startedAt, message, queuedMessageId } = action;
  const begun = begin(state, { id: turnId, startedAt, message, responseParts: [] });
  const marked = { ...begun, modifiedAt: startedAt };
  return queuedMessageId ? takeMessage(marked, queuedMessageId) : marked;
}

/** Resume the last turn, if it failed and can be resumed. */
export function turnResume(state: ChatState, { turnId }: ActionOf<"chat/turnResume">): ChatState {
  const turn = state.turns.at(-1);
  if (state.activeTurn || turn?.id !== turnId || !isResumable(turn)) return state;
  const { startedAt = state.modifiedAt } = turn;
  const again = { ...pick(turn, "id", "message", "responseParts", "usage"), startedAt };
  return begin({ ...state, turns: state.turns.slice(0, -1) }, again);
}

/** Whether a turn that has ended can be resumed. */
export function isResumable(turn: Turn): boolean {
  const part = turn.responseParts.at(-1);
  return turn.state === "error" && part?.kind === "error" && part.resumable === true;
}

function begin(state: ChatState, activeTurn: ActiveTurn): ChatState {
  const begun = { ...state, activeTurn };
  return { ...begun, status: statusOf(begun) & ~Status.IsRead };
}

/** Text grows by `+`, which does not copy: engines join such strings once, when they are read. */
export function grow(
  state: ChatState,
  action: ActionOf<"chat/delta" | "chat/reasoning">,
  kind: "markdown" | "reasoning",
): ChatState {
  const turn = matchingTurn(state, action);
  if (!turn) return state;
  const place = placeOf(turn, action.partId);
  const part = turn.responseParts[place];
  if (part?.kind !== kind) return state;
  const longer = { ...part, content: part.content + action.content };
  const responseParts = replaceAt(turn.responseParts, place, longer);
  return { ...state, activeTurn: { ...turn, responseParts } };
}

/** Find the first part with an id, of any kind; parts without an id never match. */
function placeOf(turn: ActiveTurn, id: string): number {
  return turn.responseParts.findIndex((part) =>
    part.kind === "toolCall" ? part.toolCall.toolCallId === id : "id" in part && part.id === id,
  );
}

/** Errors are not handled here: they end a turn. */
export function responsePart(state: ChatState, action: ActionOf<"chat/responsePart">): ChatState {
  const turn = matchingTurn(state, action);
  if (!turn || action.part.kind === "error") return state;
  return { ...state, activeTurn: { ...turn, responseParts: [...turn.responseParts, action.part] } };
}

export function usage(state: ChatState, action: ActionOf<"chat/usage">): ChatState {
  const turn = matchingTurn(state, action);
  return turn ? { ...state, activeTurn: put(turn, { usage: action.usage }) } : state;
}

/** The running turn becomes a record; what was open in it is closed. */
export function end(
  state: ChatState,
  action: { turnId: string; duration: number },
  outcome: Turn["state"],
  error?: ErrorResponsePart,
): ChatState {
  const turn = matchingTurn(state, action);
  if (!turn) return state;
  const duration = Math.max(0, action.duration);
  const parts = turn.responseParts.map(skip);
  const record: Turn = {
    ...pick(turn, "id", "startedAt"),
    duration,
    ...pick(turn, "message"),
    responseParts: error ? [...parts, error] : parts,
    ...pick(turn, "usage"),
    state: outcome,
  };
  const ended = put(state, { turns: [...state.turns, record], activeTurn: null });
  const modifiedAt = later(turn.startedAt, duration) ?? state.modifiedAt;
  return { ...ended, modifiedAt, status: statusOf(ended, error && Status.Error) };
}

/** Return the time this many milliseconds after another; nothing if that is not a time. */
function later(time: string, milliseconds: number): string | undefined {
  const at = new Date(Date.parse(time) + milliseconds);
  return Number.isNaN(at.getTime()) ? undefined : at.toISOString();
}

/** Keep the turns up to the one named, or none; what was running is dropped. */
export function truncated(state: ChatState, action: ActionOf<"chat/truncated">): ChatState {
  const turnId = action.turnId ?? undefined;
  const place = turnId === undefined ? -1 : state.turns.findIndex((turn) => turn.id === turnId);
  if (turnId !== undefined && place < 0) return state;
  const turns = state.turns.slice(0, place + 1);
  const cut = put(state, { turns, activeTurn: null });
  return refresh(turnId === undefined ? put(cut, { turnsNextCursor: null }) : cut);
}

/** Older turns come before those that are here. */
export function turnsLoaded(state: ChatState, action: ActionOf<"chat/turnsLoaded">): ChatState {
  const known = new Set(state.turns.map(({ id }) => id));
  const older = action.turns.filter(({ id }) => !known.has(id));
  return put(state, { turns: [...older, ...state.turns], turnsNextCursor: action.turnsNextCursor });
}
