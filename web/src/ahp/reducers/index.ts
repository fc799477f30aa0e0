/** The reducers: state and action in, state out. The same on every side, so that all sides agree. */

import type {
  Action,
  ChangesetState,
  ChatState,
  RootState,
  SessionState,
  State,
  TerminalState,
} from "../wire";
import { reduceChangeset } from "./changeset";
import { reduceChat } from "./chat";
import { reduceRoot } from "./root";
import { reduceSession } from "./session";
import { reduceTerminal } from "./terminal";

export { reduceChangeset, reduceChat, reduceRoot, reduceSession, reduceTerminal };

export type Kind = "root" | "session" | "chat" | "terminal" | "changeset";

export function reduce(kind: Kind, state: State, action: Action): State {
  switch (kind) {
    case "chat":
      return reduceChat(state as ChatState, action);
    case "session":
      return reduceSession(state as SessionState, action);
    case "terminal":
      return reduceTerminal(state as TerminalState, action);
    case "changeset":
      return reduceChangeset(state as ChangesetState, action);
    case "root":
      return reduceRoot(state as RootState, action);
  }
}

/** Return the kind of a channel by its state. URIs do not tell: any side may choose them. */
export function kindOf(state: State): Kind {
  if ("turns" in state) return "chat";
  if ("chats" in state) return "session";
  if ("content" in state) return "terminal";
  return "files" in state ? "changeset" : "root";
}
