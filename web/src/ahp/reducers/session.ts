/** The session reducer: which function handles which action, and the actions on a session as a whole. */

import type { Action, SessionAction, SessionState } from "../wire";
import { Status } from "../wire";
import * as pending from "./pending";
import { pick, put, replaceAt } from "./records";
import { flag, summarise } from "./status";
import * as toolcalls from "./toolcalls";
import * as turns from "./turns";

type Of<Type extends Action["type"]> = Extract<Action, { type: Type }>;
type Handlers = {
  [Type in SessionAction["type"]]: (state: SessionState, action: Of<Type>, now: number) => SessionState;
};

/** Apply one action; one that does not apply leaves the state as it was. */
export function reduceSession(state: SessionState, action: Action, now: number): SessionState {
  const handle = (HANDLERS as Record<string, (s: SessionState, a: Action, now: number) => SessionState>)[
    action.type
  ];
  return handle ? handle(state, action, now) : state;
}

/** The status is idle and nothing else: flags go too. */
function ready(state: SessionState): SessionState {
  return summarise({ ...state, lifecycle: "ready" }, { status: Status.Idle });
}

function configChanged(state: SessionState, action: Of<"session/configChanged">, now: number): SessionState {
  const changed = configure(state, action);
  return changed === state ? state : summarise(changed, { modifiedAt: now });
}

/** The settings of a session, or of the root: laid over what is there, or in its place. */
export function configure<S extends { config?: { values: object } }>(
  state: S,
  action: { config: object; replace?: boolean },
): S {
  const { config } = state;
  if (!config) return state;
  const values = action.replace ? action.config : { ...config.values, ...action.config };
  return { ...state, config: { ...config, values } };
}

function activeClientToolsChanged(
  state: SessionState,
  action: Of<"session/activeClientToolsChanged">,
): SessionState {
  const client = state.activeClient;
  return client ? { ...state, activeClient: { ...client, tools: action.tools } } : state;
}

function customizationToggled(state: SessionState, action: Of<"session/customizationToggled">): SessionState {
  const entries = state.customizations ?? [];
  const place = entries.findIndex(({ customization }) => customization.uri === action.uri);
  const entry = entries[place];
  if (!entry) return state;
  return { ...state, customizations: replaceAt(entries, place, { ...entry, enabled: action.enabled }) };
}

/** One that is not in the list yet is off unless it says otherwise. */
function customizationUpdated(state: SessionState, action: Of<"session/customizationUpdated">): SessionState {
  const entries = state.customizations ?? [];
  const place = entries.findIndex(({ customization }) => customization.uri === action.customization.uri);
  const entry = entries[place];
  const news = pick(action, "customization", "enabled", "status", "statusMessage");
  const customizations = entry
    ? replaceAt(entries, place, { ...entry, ...news })
    : [...entries, { ...news, enabled: action.enabled ?? false }];
  return { ...state, customizations };
}

const HANDLERS: Handlers = {
  "session/ready": ready,
  "session/creationFailed": (state, { error }) =>
    put(state, { lifecycle: "creationFailed", creationError: error }),
  "session/turnStarted": turns.turnStarted,
  "session/delta": (state, action) => turns.grow(state, action, "markdown"),
  "session/reasoning": (state, action) => turns.grow(state, action, "reasoning"),
  "session/responsePart": turns.responsePart,
  "session/turnComplete": (state, action, now) => turns.end(state, action, now, "complete"),
  "session/turnCancelled": (state, action, now) => turns.end(state, action, now, "cancelled"),
  "session/error": (state, action, now) => turns.end(state, action, now, "error", Status.Error),
  "session/usage": turns.usage,
  "session/truncated": turns.truncated,
  "session/toolCallStart": toolcalls.toolCallStart,
  "session/toolCallDelta": toolcalls.toolCallDelta,
  "session/toolCallReady": toolcalls.toolCallReady,
  "session/toolCallConfirmed": toolcalls.toolCallConfirmed,
  "session/toolCallComplete": toolcalls.toolCallComplete,
  "session/toolCallResultConfirmed": toolcalls.toolCallResultConfirmed,
  "session/toolCallContentChanged": toolcalls.toolCallContentChanged,
  "session/titleChanged": (state, { title }, now) => summarise(state, { title, modifiedAt: now }),
  "session/modelChanged": (state, { model }, now) => summarise(state, { model, modifiedAt: now }),
  "session/isReadChanged": (state, { isRead }) => flag(state, Status.IsRead, isRead),
  "session/isArchivedChanged": (state, { isArchived }) => flag(state, Status.IsArchived, isArchived),
  "session/activityChanged": (state, { activity }) => summarise(state, { activity }),
  "session/diffsChanged": (state, { diffs }) => summarise(state, { diffs }),
  "session/configChanged": configChanged,
  "session/metaChanged": (state, { _meta }) => put(state, { _meta }),
  "session/serverToolsChanged": (state, { tools }) => put(state, { serverTools: tools }),
  "session/activeClientChanged": (state, { activeClient }) => put(state, { activeClient }),
  "session/activeClientToolsChanged": activeClientToolsChanged,
  "session/customizationsChanged": (state, { customizations }) => put(state, { customizations }),
  "session/customizationToggled": customizationToggled,
  "session/customizationUpdated": customizationUpdated,
  "session/inputRequested": pending.inputRequested,
  "session/inputAnswerChanged": pending.inputAnswerChanged,
  "session/inputCompleted": pending.inputCompleted,
  "session/pendingMessageSet": pending.pendingMessageSet,
  "session/pendingMessageRemoved": pending.pendingMessageRemoved,
  "session/queuedMessagesReordered": pending.queuedMessagesReordered,
};
