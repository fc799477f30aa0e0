/** Customizations of a session: changed at the top level, or among the children of one that holds others. */

import type {
  ActionOf,
  ChildCustomization,
  Customization,
  McpServerCustomization,
  McpServerState,
  SessionState,
  URI,
} from "../wire";
import { orNothing, put, replaceAt, upsert, without } from "./records";

type Any = Customization | ChildCustomization;

export function toggled(state: SessionState, action: ActionOf<"session/customizationToggled">): SessionState {
  const { id, enablement } = action;
  return change(state, id, (entry) =>
    entry.type === "plugin" || entry.type === "mcpServer"
      ? put(entry, { enablement: orNothing(enablement) })
      : { ...entry, enabled: enablement[0]?.enabled ?? true },
  );
}

export function updated(
  state: SessionState,
  { customization }: ActionOf<"session/customizationUpdated">,
): SessionState {
  const { id } = customization;
  return { ...state, customizations: upsert(state.customizations, customization, (one) => one.id === id) };
}

export function removed(state: SessionState, { id }: ActionOf<"session/customizationRemoved">): SessionState {
  const entries = state.customizations ?? [];
  const left = without(entries, (entry) => entry.id === id);
  if (left !== entries) return { ...state, customizations: left };
  let isChanged = false;
  const customizations = entries.map((entry) => {
    const children = childrenOf(entry);
    const others = children && without(children, (child) => child.id === id);
    if (!others || others === children) return entry;
    isChanged = true;
    return { ...entry, children: others } as Customization;
  });
  return isChanged ? { ...state, customizations } : state;
}

// MCP servers

export function serverChanged(
  state: SessionState,
  { id, state: its, channel }: ActionOf<"session/mcpServerStateChanged">,
): SessionState {
  return serverSet(state, id, its, channel);
}

export function serverSet(state: SessionState, id: string, its: McpServerState, channel?: URI): SessionState {
  return changeServer(state, id, (server) => put(server, { state: its, channel }));
}

/** Turns no longer wait for a server that is starting. */
export function serverToBackground(
  state: SessionState,
  { id }: ActionOf<"session/mcpServerBackgroundRequested">,
): SessionState {
  return changeServer(state, id, (server) =>
    server.state.kind === "starting" && server.state.blocking
      ? { ...server, state: { ...server.state, blocking: false } }
      : server,
  );
}

function changeServer(
  state: SessionState,
  id: string,
  how: (server: McpServerCustomization) => McpServerCustomization,
): SessionState {
  const isServer = (entry: Any) => entry.type === "mcpServer";
  return change(state, id, (entry) => (entry.type === "mcpServer" ? how(entry) : entry), isServer);
}

/** Change the first entry with an id: at the top level, or else among children, optionally of one type. */
function change(
  state: SessionState,
  id: string,
  how: (entry: Any) => Any,
  isMeant: (child: Any) => boolean = () => true,
): SessionState {
  const entries = state.customizations ?? [];
  const top = entries.findIndex((entry) => entry.id === id);
  if (top >= 0) return changeAt(state, entries, top, how);
  const placeIn = (entry: Customization) =>
    childrenOf(entry)?.findIndex((child) => child.id === id && isMeant(child)) ?? -1;
  const holder = entries.findIndex((entry) => placeIn(entry) >= 0);
  if (holder < 0) return state;
  return changeAt(state, entries, holder, (entry) => {
    const children = childrenOf(entry as Customization)!;
    const place = placeIn(entry as Customization);
    const changed = how(children[place]!) as ChildCustomization;
    if (changed === children[place]) return entry;
    return { ...entry, children: replaceAt(children, place, changed) } as Customization;
  });
}

function changeAt(
  state: SessionState,
  entries: readonly Customization[],
  place: number,
  how: (entry: Any) => Any,
): SessionState {
  const changed = how(entries[place]!) as Customization;
  if (changed === entries[place]) return state;
  return { ...state, customizations: replaceAt(entries, place, changed) };
}

function childrenOf(entry: Customization): readonly ChildCustomization[] | undefined {
  return entry.type === "mcpServer" ? undefined : entry.children;
}
