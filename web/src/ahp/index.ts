/** The client of this page, and how components watch what it sees. */

import { useEffect, useMemo } from "preact/hooks";
import type { Client, Watch } from "./api";
import { browserSurroundings } from "./browser";
import { AhpClient } from "./client";
import type { ChangesetState, ChatState, SessionState, State, TerminalState, URI } from "./wire";

export type * from "./api";
export { keyOf } from "./browser";
export { AhpError, Disconnected, Rejected, TimedOut } from "./errors";
export { outputOf } from "./scrollback";
export * from "./wire";

export const client: Client = new AhpClient(browserSurroundings());

/** Watch a session for as long as a component is shown. */
export function useSession(uri: URI): Watch<SessionState> {
  return useWatch(uri, (at) => client.session(at));
}

/** Watch a chat for as long as a component is shown; nothing as long as it is unknown. */
export function useChat(uri: URI | undefined): Watch<ChatState> | undefined {
  return useWatch(uri, (at) => client.chat(at));
}

/** Watch a changeset for as long as a component is shown; nothing, if there is none. */
export function useChangeset(uri: URI | undefined): Watch<ChangesetState> | undefined {
  return useWatch(uri, (at) => client.changeset(at));
}

/** Watch a terminal for as long as a component is shown. */
export function useTerminal(uri: URI): Watch<TerminalState> {
  return useWatch(uri, (at) => client.terminal(at));
}

function useWatch<S extends State>(uri: URI, open: (uri: URI) => Watch<S>): Watch<S>;
function useWatch<S extends State>(uri: URI | undefined, open: (uri: URI) => Watch<S>): Watch<S> | undefined;
function useWatch<S extends State>(uri: URI | undefined, open: (uri: URI) => Watch<S>) {
  const watch = useMemo(() => (uri === undefined ? undefined : open(uri)), [uri]);
  useEffect(() => watch?.close, [watch]);
  return watch;
}
