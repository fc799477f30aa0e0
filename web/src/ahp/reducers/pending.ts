/** What waits in a session: questions of the agent, and messages. */

import type { Action, SessionState } from "../wire";
import { Status } from "../wire";
import { orNothing, pick, put, replaceAt } from "./records";
import { statusOf, summarise } from "./status";

type Of<Type extends Action["type"]> = Extract<Action, { type: Type }>;

/** A request that is asked again keeps its answers, unless it brings its own. */
export function inputRequested(
  state: SessionState,
  action: Of<"session/inputRequested">,
  now: number,
): SessionState {
  const { request } = action;
  const requests = state.inputRequests ?? [];
  const place = requests.findIndex(({ id }) => id === request.id);
  const old = requests[place];
  const inputRequests = old
    ? replaceAt(requests, place, { ...pick(old, "answers"), ...put(request, {}) })
    : [...requests, request];
  const asked = { ...state, inputRequests };
  return summarise(asked, { status: statusOf(asked) & ~Status.IsRead, modifiedAt: now });
}

export function inputAnswerChanged(
  state: SessionState,
  action: Of<"session/inputAnswerChanged">,
  now: number,
): SessionState {
  const requests = state.inputRequests ?? [];
  const place = requests.findIndex(({ id }) => id === action.requestId);
  const request = requests[place];
  if (!request) return state;
  const answers = put(request.answers ?? {}, { [action.questionId]: action.answer });
  const changed = put(request, { answers: Object.keys(answers).length ? answers : null });
  return summarise({ ...state, inputRequests: replaceAt(requests, place, changed) }, { modifiedAt: now });
}

/** The request goes, whatever the response. */
export function inputCompleted(
  state: SessionState,
  action: Of<"session/inputCompleted">,
  now: number,
): SessionState {
  const requests = state.inputRequests ?? [];
  const left = requests.filter(({ id }) => id !== action.requestId);
  if (left.length === requests.length) return state;
  const done = put(state, { inputRequests: orNothing(left) });
  return summarise(done, { status: statusOf(done), modifiedAt: now });
}

/** One slot to steer the turn; a queue for the turns after it. */
export function pendingMessageSet(
  state: SessionState,
  action: Of<"session/pendingMessageSet">,
): SessionState {
  const message = pick(action, "id", "userMessage");
  if (action.kind === "steering") return { ...state, steeringMessage: message };
  const queue = state.queuedMessages ?? [];
  const place = queue.findIndex(({ id }) => id === action.id);
  return { ...state, queuedMessages: place < 0 ? [...queue, message] : replaceAt(queue, place, message) };
}

export function pendingMessageRemoved(
  state: SessionState,
  action: Of<"session/pendingMessageRemoved">,
): SessionState {
  if (action.kind === "steering") {
    return state.steeringMessage?.id === action.id ? put(state, { steeringMessage: null }) : state;
  }
  const queue = state.queuedMessages ?? [];
  const left = queue.filter(({ id }) => id !== action.id);
  return left.length === queue.length ? state : put(state, { queuedMessages: orNothing(left) });
}

/** Those named first, in that order; then the others as they stood. */
export function queuedMessagesReordered(
  state: SessionState,
  action: Of<"session/queuedMessagesReordered">,
): SessionState {
  const queue = state.queuedMessages;
  if (!queue) return state;
  const rank = (id: string) => {
    const place = action.order.indexOf(id);
    return place < 0 ? action.order.length : place;
  };
  return { ...state, queuedMessages: queue.toSorted((one, other) => rank(one.id) - rank(other.id)) };
}
