/** How much of a terminal's output is kept here: the newest, in whole parts where that is possible. */

import type { State, TerminalContentPart, TerminalState } from "./wire";

const MOST_CHARACTERS = 1_000_000;

/** Return a terminal's state with less output, once there is twice as much as is kept. */
export function shorten(state: State): State {
  if (!("content" in state) || lengthOf(state.content) <= 2 * MOST_CHARACTERS) return state;
  return { ...state, content: newest(state.content) } satisfies TerminalState;
}

function lengthOf(content: readonly TerminalContentPart[]): number {
  return content.reduce((sum, part) => sum + outputOf(part).length, 0);
}

/** Return the raw output of a part. */
export function outputOf(part: TerminalContentPart): string {
  if (part.type === "command") return part.output;
  return part.type === "unclassified" ? part.value : "";
}

function newest(content: readonly TerminalContentPart[]): readonly TerminalContentPart[] {
  let room = MOST_CHARACTERS;
  const kept: TerminalContentPart[] = [];
  for (const part of content.toReversed()) {
    if (room <= 0) break;
    const text = outputOf(part).slice(-room);
    room -= text.length;
    kept.push(part.type === "command" ? { ...part, output: text } : { ...part, value: text });
  }
  return kept.reverse();
}
