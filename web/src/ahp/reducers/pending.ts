/** Messages that wait: one slot to steer the turn, and a queue for the turns after it. */

import type { ActionOf, ChatState } from "../wire";
import { orNothing, pick, put, upsert, without } from "./records";

export function pendingMessageSet(state: ChatState, action: ActionOf<"chat/pendingMessageSet">): ChatState {
  const message = pick(action, "id", "message");
  if (action.kind === "steering") return { ...state, steeringMessage: message };
  return { ...state, queuedMessages: upsert(state.queuedMessages, message, ({ id }) => id === action.id) };
}

export function pendingMessageRemoved(
  state: ChatState,
  { kind, id }: ActionOf<"chat/pendingMessageRemoved">,
): ChatState {
  return kind === "steering" ? withoutSteering(state, id) : withoutQueued(state, id);
}

/** Remove a message, wherever it waits. */
export function takeMessage(state: ChatState, id: string): ChatState {
  return withoutQueued(withoutSteering(state, id), id);
}

function withoutSteering(state: ChatState, id: string): ChatState {
  return state.steeringMessage?.id === id ? put(state, { steeringMessage: null }) : state;
}

function withoutQueued(state: ChatState, id: string): ChatState {
  const queue = state.queuedMessages ?? [];
  const left = without(queue, (message) => message.id === id);
  return left === queue ? state : put(state, { queuedMessages: orNothing(left) });
}

/** The named ones first, in that order; then the others as before. */
export function queuedMessagesReordered(
  state: ChatState,
  { order }: ActionOf<"chat/queuedMessagesReordered">,
): ChatState {
  const queue = state.queuedMessages;
  if (!queue) return state;
  const rank = (id: string) => {
    const place = order.indexOf(id);
    return place < 0 ? order.length : place;
  };
  return { ...state, queuedMessages: queue.toSorted((one, other) => rank(one.id) - rank(other.id)) };
}
