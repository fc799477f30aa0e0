/** The root reducer. */

import type { Action, RootState } from "../wire";
import { configure } from "./shared";

/** Apply one action; one that does not apply leaves the state as it was. */
export function reduceRoot(state: RootState, action: Action): RootState {
  switch (action.type) {
    case "root/agentsChanged":
      return { ...state, agents: action.agents };
    case "root/activeSessionsChanged":
      return { ...state, activeSessions: action.activeSessions };
    case "root/terminalsChanged":
      return { ...state, terminals: action.terminals };
    case "root/configChanged":
      return configure(state, action);
    default:
      return state;
  }
}
