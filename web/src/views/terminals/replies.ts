/**
 * Replies: tells automatic answers of a terminal to its program from what the user types.
 *
 * xterm.js reports both with one event. Its answers come while it parses output, and it calls back right after that, in
 * the same task; typing comes in another task. So everything reported before a write calls back is an answer, and
 * everything after the next microtask was typed.
 */
import type { Terminal } from "@xterm/xterm";

/** Reports of the focus, for programs that asked for them. */
const FOCUS = new Set(["\x1b[I", "\x1b[O"]);

/** Pass on what is typed, and answers to `live` output while `isHolder` says that this page holds the terminal. */
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
    /** Show earlier output, whose queries were answered back then. */
    replay: (data: string) => write(data, false),
  };
}
