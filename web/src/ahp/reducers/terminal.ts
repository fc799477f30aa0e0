/** The terminal reducer. */

import type { Action, ActionOf, TerminalContentPart, TerminalState } from "../wire";
import { pick, put, replaceAt } from "./records";

/** Apply one action; one that does not apply leaves the state as it was. */
export function reduceTerminal(state: TerminalState, action: Action): TerminalState {
  switch (action.type) {
    case "terminal/data":
      return { ...state, content: written(state.content, action.data) };
    case "terminal/resized":
      return { ...state, cols: action.cols, rows: action.rows };
    case "terminal/claimed":
      return { ...state, claim: action.claim };
    case "terminal/titleChanged":
      return { ...state, title: action.title };
    case "terminal/cwdChanged":
      return { ...state, cwd: action.cwd };
    case "terminal/exited":
      return { ...state, lifecycle: { status: "exited", ...pick(action, "exitCode") } };
    case "terminal/cleared":
      return { ...state, content: [] };
    case "terminal/commandDetectionAvailable":
      return { ...state, supportsCommandDetection: true };
    case "terminal/commandExecuted":
      return executed(state, action);
    case "terminal/commandFinished":
      return finished(state, action);
    default:
      return state;
  }
}

/** Output goes to the last part, if that is still open. */
function written(content: readonly TerminalContentPart[], data: string): readonly TerminalContentPart[] {
  const last = content.at(-1);
  if (last?.type === "command" && !last.isComplete) {
    return replaceAt(content, content.length - 1, { ...last, output: last.output + data });
  }
  if (last?.type === "unclassified") {
    return replaceAt(content, content.length - 1, { ...last, value: last.value + data });
  }
  return [...content, { type: "unclassified", value: data }];
}

function executed(state: TerminalState, action: ActionOf<"terminal/commandExecuted">): TerminalState {
  const { commandId, commandLine, timestamp } = action;
  const part: TerminalContentPart = {
    type: "command",
    commandId,
    commandLine,
    output: "",
    timestamp,
    isComplete: false,
  };
  return { ...state, content: [...state.content, part], supportsCommandDetection: true };
}

function finished(state: TerminalState, action: ActionOf<"terminal/commandFinished">): TerminalState {
  const { commandId, exitCode, durationMs } = action;
  const isMeant = (part: TerminalContentPart) => part.type === "command" && part.commandId === commandId;
  if (!state.content.some(isMeant)) return state;
  const content = state.content.map((part) =>
    part.type === "command" && isMeant(part) ? put(part, { isComplete: true, exitCode, durationMs }) : part,
  );
  return { ...state, content };
}
