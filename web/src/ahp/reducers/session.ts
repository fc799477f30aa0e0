/** The session reducer: the session itself, its chats, and what waits in them. */

import type { Action, ActionOf, SessionAction, SessionInputRequest, SessionState } from "../wire";
import { Status } from "../wire";
import * as customizations from "./customizations";
import { orNothing, put, upsert, without } from "./records";
import { addDirectory, configure, flag, removeDirectory, replaceDirectory } from "./shared";

type Handlers = {
  [Type in SessionAction["type"]]: (state: SessionState, action: ActionOf<Type>) => SessionState;
};

/** Apply one action; one that does not apply leaves the state as it was. */
export function reduceSession(state: SessionState, action: Action): SessionState {
  const handlers: Record<string, ((state: SessionState, action: any) => SessionState) | undefined> = HANDLERS;
  return handlers[action.type]?.(state, action) ?? state;
}

function chatAdded(state: SessionState, { summary }: ActionOf<"session/chatAdded">): SessionState {
  return { ...state, chats: upsert(state.chats, summary, ({ resource }) => resource === summary.resource) };
}

function chatRemoved(state: SessionState, { chat }: ActionOf<"session/chatRemoved">): SessionState {
  const chats = without(state.chats, ({ resource }) => resource === chat);
  if (chats === state.chats) return state;
  return put(state, { chats, ...(state.defaultChat === chat && { defaultChat: null }) });
}

/** The URI of a chat never changes. */
function chatUpdated(state: SessionState, action: ActionOf<"session/chatUpdated">): SessionState {
  const { resource: _, ...changes } = action.changes;
  const old = state.chats.find(({ resource }) => resource === action.chat);
  if (!old) return state;
  return { ...state, chats: upsert(state.chats, put(old, changes), (one) => one === old) };
}

/** Only if it names every chat exactly once. */
function chatsReordered(
  state: SessionState,
  { chats: order }: ActionOf<"session/chatsReordered">,
): SessionState {
  const known = new Map(state.chats.map((chat) => [chat.resource, chat]));
  const chats = [...new Set(order)].flatMap((uri) => known.get(uri) ?? []);
  const isWhole = chats.length === order.length && chats.length === state.chats.length;
  return isWhole ? { ...state, chats } : state;
}

function inputNeededSet(state: SessionState, { request }: ActionOf<"session/inputNeededSet">): SessionState {
  return withNeeded(
    state,
    upsert(state.inputNeeded, request, ({ id }) => id === request.id),
  );
}

function inputNeededRemoved(
  state: SessionState,
  { id }: ActionOf<"session/inputNeededRemoved">,
): SessionState {
  const needed = state.inputNeeded ?? [];
  const left = without(needed, (request) => request.id === id);
  return left === needed ? state : withNeeded(state, left);
}

/** A call that a client runs needs no input of a person. */
function withNeeded(state: SessionState, needed: readonly SessionInputRequest[]): SessionState {
  const isNeeded = needed.some(({ kind }) => kind !== "toolClientExecution");
  const status = isNeeded
    ? (state.status & ~Status.Activity) | Status.InputNeeded
    : state.status & ~(Status.InputNeeded & ~Status.InProgress);
  return put(state, { inputNeeded: orNothing(needed), status });
}

function activeClientRemoved(
  state: SessionState,
  { clientId }: ActionOf<"session/activeClientRemoved">,
): SessionState {
  const activeClients = without(state.activeClients, (client) => client.clientId === clientId);
  return activeClients === state.activeClients ? state : { ...state, activeClients };
}

const HANDLERS: Handlers = {
  "session/ready": (state) => ({ ...state, lifecycle: "ready" }),
  "session/creationFailed": (state, { error }) => put(state, { lifecycle: "failed", creationError: error }),
  "session/chatAdded": chatAdded,
  "session/chatRemoved": chatRemoved,
  "session/chatUpdated": chatUpdated,
  "session/chatsReordered": chatsReordered,
  "session/defaultChatChanged": (state, { defaultChat }) => put(state, { defaultChat }),
  "session/titleChanged": (state, { title }) => ({ ...state, title }),
  "session/isReadChanged": (state, { isRead }) => flag(state, Status.IsRead, isRead),
  "session/isArchivedChanged": (state, { isArchived }) => flag(state, Status.IsArchived, isArchived),
  "session/activityChanged": (state, { activity }) => put(state, { activity }),
  "session/changesetsChanged": (state, { changesets }) => put(state, { changesets }),
  "session/configChanged": configure,
  "session/metaChanged": (state, { _meta }) => put(state, { _meta }),
  "session/serverToolsChanged": (state, { tools }) => put(state, { serverTools: tools }),
  "session/activeClientSet": (state, { activeClient }) => ({
    ...state,
    activeClients: upsert(
      state.activeClients,
      activeClient,
      ({ clientId }) => clientId === activeClient.clientId,
    ),
  }),
  "session/activeClientRemoved": activeClientRemoved,
  "session/workingDirectorySet": (state, { directory }) => addDirectory(state, directory),
  "session/workingDirectoryRemoved": (state, { directory }) => removeDirectory(state, directory),
  "session/workingDirectoryReplaced": (state, { directory, replacement }) =>
    replaceDirectory(state, directory, replacement),
  "session/inputNeededSet": inputNeededSet,
  "session/inputNeededRemoved": inputNeededRemoved,
  "session/customizationsChanged": (state, { customizations }) => put(state, { customizations }),
  "session/customizationToggled": customizations.toggled,
  "session/customizationUpdated": customizations.updated,
  "session/customizationRemoved": customizations.removed,
  "session/mcpServerStateChanged": customizations.serverChanged,
  "session/mcpServerStartRequested": (state, { id }) =>
    customizations.serverSet(state, id, { kind: "starting" }),
  "session/mcpServerStopRequested": (state, { id }) =>
    customizations.serverSet(state, id, { kind: "stopped" }),
  "session/mcpServerBackgroundRequested": customizations.serverToBackground,
};
