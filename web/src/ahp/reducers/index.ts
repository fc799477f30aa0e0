/** The reducers: state and action in, state out. The same on every side, so that all sides agree. */

import type { Action, RootState, SessionState, State, TerminalState } from "../wire";
import { reduceRoot } from "./root";
import { reduceSession } from "./session";
import { reduceTerminal } from "./terminal";

export { reduceRoot, reduceSession, reduceTerminal };

export type Kind = "root" | "session" | "terminal";

export function reduce(kind: Kind, state: State, action: Action, now: number): State {
  if (kind === "session") return reduceSession(state as SessionState, action, now);
  if (kind === "terminal") return reduceTerminal(state as TerminalState, action);
  return reduceRoot(state as RootState, action);
}

/** Tell the kind of a resource by its state; a client may choose any URI, so that says nothing. */
export function kindOf(state: State): Kind {
  if ("summary" in state) return "session";
  return "content" in state ? "terminal" : "root";
}

/** Name the resource that an action is about. */
export function resourceOf(action: Action, root: string): string | undefined {
  if (action.type.startsWith("root/")) return root;
  if ("session" in action) return action.session;
  return "terminal" in action ? action.terminal : undefined;
}
