/** The chat reducer: which function handles which action. */

import type { Action, ActionOf, ChatAction, ChatState } from "../wire";
import { Status } from "../wire";
import * as inputs from "./inputs";
import * as pending from "./pending";
import { put, upsert, without } from "./records";
import { addDirectory, flag, removeDirectory } from "./shared";
import * as toolcalls from "./toolcalls";
import * as turns from "./turns";

type Handlers = {
  [Type in ChatAction["type"]]: (state: ChatState, action: ActionOf<Type>) => ChatState;
};

/** Apply one action; one that does not apply leaves the state as it was. */
export function reduceChat(state: ChatState, action: Action): ChatState {
  const handlers: Record<string, ((state: ChatState, action: any) => ChatState) | undefined> = HANDLERS;
  return handlers[action.type]?.(state, action) ?? state;
}

function backgroundWorkRemoved(state: ChatState, { id }: ActionOf<"chat/backgroundWorkRemoved">): ChatState {
  const work = state.backgroundWork ?? [];
  const left = without(work, (one) => one.id === id);
  return left === work ? state : { ...state, backgroundWork: left };
}

const HANDLERS: Handlers = {
  "chat/turnStarted": turns.turnStarted,
  "chat/responsePart": turns.responsePart,
  "chat/delta": (state, action) => turns.grow(state, action, "markdown"),
  "chat/reasoning": (state, action) => turns.grow(state, action, "reasoning"),
  "chat/usage": turns.usage,
  "chat/turnComplete": (state, action) => turns.end(state, action, "complete"),
  "chat/turnCancelled": (state, action) => turns.end(state, action, "cancelled"),
  "chat/error": (state, action) => turns.end(state, action, "error", action.part),
  "chat/turnResume": turns.turnResume,
  "chat/truncated": turns.truncated,
  "chat/turnsLoaded": turns.turnsLoaded,
  "chat/toolCallStart": toolcalls.toolCallStart,
  "chat/toolCallDelta": toolcalls.toolCallDelta,
  "chat/toolCallReady": toolcalls.toolCallReady,
  "chat/toolCallConfirmed": toolcalls.toolCallConfirmed,
  "chat/toolCallContentChanged": toolcalls.toolCallContentChanged,
  "chat/toolCallComplete": toolcalls.toolCallComplete,
  "chat/toolCallResultConfirmed": toolcalls.toolCallResultConfirmed,
  "chat/toolCallAuthRequired": toolcalls.toolCallAuthRequired,
  "chat/toolCallAuthResolved": toolcalls.toolCallAuthResolved,
  "chat/inputRequested": inputs.inputRequested,
  "chat/inputAnswerChanged": inputs.inputAnswerChanged,
  "chat/inputCompleted": inputs.inputCompleted,
  "chat/pendingMessageSet": pending.pendingMessageSet,
  "chat/pendingMessageRemoved": pending.pendingMessageRemoved,
  "chat/queuedMessagesReordered": pending.queuedMessagesReordered,
  "chat/draftChanged": (state, { draft }) => put(state, { draft }),
  "chat/activityChanged": (state, { activity }) => put(state, { activity }),
  "chat/isReadChanged": (state, { isRead }) => flag(state, Status.IsRead, isRead),
  "chat/isArchivedChanged": (state, { isArchived }) => flag(state, Status.IsArchived, isArchived),
  "chat/workingDirectorySet": (state, { directory }) => addDirectory(state, directory),
  "chat/workingDirectoryRemoved": (state, { directory }) => removeDirectory(state, directory),
  "chat/movableChanged": (state, { movable }) => put(state, { movable }),
  "chat/changesetsChanged": (state, { changesets }) => put(state, { changesets }),
  "chat/canvasesChanged": (state, { canvases }) => put(state, { canvases }),
  "chat/backgroundWorkSet": (state, { work }) => ({
    ...state,
    backgroundWork: upsert(state.backgroundWork, work, ({ id }) => id === work.id),
  }),
  "chat/backgroundWorkRemoved": backgroundWorkRemoved,
};
