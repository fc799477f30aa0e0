/** Calls: the pending requests of one connection, and their outcomes. */

import { AhpError, type Disconnected, TimedOut } from "./errors";
import type { Method, Params, Result, RpcMessage } from "./wire";

/** Send a request over the current connection. `take` gets the result before any later message is read. */
export type Ask = <M extends Method>(
  method: M,
  params: Params<M>,
  take?: (result: Result<M>) => void,
) => Promise<Result<M>>;

interface Call {
  resolve(result: any): void;
  reject(error: Error): void;
  take?: ((result: any) => void) | undefined;
}

/** The requests that may be repeated. */
export const SAFE: ReadonlySet<Method> = new Set<Method>([
  "ping",
  "subscribe",
  "listSessions",
  "fetchTurns",
  "resourceRead",
  "resourceList",
  "resolveSessionConfig",
  "sessionConfigCompletions",
  "completions",
]);

export class Calls {
  #calls = new Map<number, Call>();
  #nextId = 1;

  constructor(private readonly send: (message: RpcMessage) => void) {}

  ask: Ask = (method, params, take) => {
    const id = this.#nextId++;
    return new Promise((resolve, reject) => {
      this.#calls.set(id, { resolve, reject, take });
      this.send({ jsonrpc: "2.0", id, method, params });
    });
  };

  /** The host has answered. */
  answer(id: number, message: RpcMessage): void {
    const call = this.#calls.get(id);
    this.#calls.delete(id);
    if (!call) return;
    if (message.error) {
      const { message: reason, code, data } = message.error;
      call.reject(new AhpError(reason, code, data));
      return;
    }
    try {
      call.take?.(message.result);
      call.resolve(message.result);
    } catch (error) {
      call.reject(error as Error);
    }
  }

  /** The connection is gone, and no answer will come. */
  breakOff(error: Disconnected): void {
    const calls = [...this.#calls.values()];
    this.#calls.clear();
    for (const call of calls) call.reject(error);
  }
}

/** Run something with a time limit. */
export async function within<T>(
  milliseconds: number,
  sentence: string,
  run: (ended: AbortSignal) => Promise<T>,
): Promise<T> {
  const ended = new AbortController();
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<never>((_, reject) => {
    const giveUp = () => {
      const error = new TimedOut(sentence);
      ended.abort(error);
      reject(error);
    };
    timer = setTimeout(giveUp, Math.max(0, milliseconds));
  });
  try {
    return await Promise.race([run(ended.signal), late]);
  } finally {
    clearTimeout(timer);
  }
}
