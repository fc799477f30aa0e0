/**
 * Replies: what a terminal answers to a program by itself, told apart from what somebody types.
 *
 * xterm.js says both in one event. What it answers it says while it parses output, and calls back right after that, in
 * the same task; what is typed comes in a task of its own. So what was said when a write calls back is an answer, and
 * what is still there in the microtask after it was typed.
 */
import type { Terminal } from "@xterm/xterm";

/** That the terminal got or lost the focus, for a program that wants to know. */
const FOCUS = new Set(["\x1b[I", "\x1b[O"]);

/** Pass on what is typed, and of the answers those to `live` output while `isHolder` says that they are ours to give. */
export function replies(
  terminal: Pick<Terminal, "write" | "onData">,
  send: (data: string) => void,
  isHolder: () => boolean,
) {
  let said: string[] = [];
  const take = () => {
    const taken = said;
    said = [];
    return taken;
  };
  const sendTyped = () => {
    for (const data of take()) if (!FOCUS.has(data) || isHolder()) send(data);
  };
  terminal.onData((data) => {
    if (said.push(data) === 1) queueMicrotask(sendTyped);
  });
  const write = (data: string, isLive: boolean) =>
    terminal.write(data, () => {
      const answers = take();
      if (isLive && isHolder()) answers.forEach(send);
    });
  return {
    /** Show what a program prints now. */
    live: (data: string) => write(data, true),
    /** Show what it printed before: what it asked then was answered then. */
    replay: (data: string) => write(data, false),
  };
}
