/** Outcomes of this client's own actions. */

import { signal } from "@preact/signals";
import type { Refusal } from "./api";
import { Rejected } from "./errors";
import type { Pending } from "./replica";
import type { ClientAction, URI } from "./wire";

const MOST_REFUSALS = 20;

interface Echo {
  resolve(): void;
  reject(error: Error): void;
}

export class Outcomes {
  readonly refusals = signal<readonly Refusal[]>([]);
  #echoes = new Map<number, Echo>();
  #count = 0;

  /** Return a promise of the host's answer to an action. It need not be caught: `refusals` has the errors. */
  expect({ clientSeq }: Pending): Promise<void> {
    const echo = new Promise<void>((resolve, reject) => {
      this.#echoes.set(clientSeq, { resolve, reject });
    });
    echo.catch(() => {});
    return echo;
  }

  /** The host has answered: the action was applied, unless there is a reason. */
  settle(clientSeq: number, channel: URI, action: ClientAction, reason?: string): void {
    const echo = this.#echoes.get(clientSeq);
    this.#echoes.delete(clientSeq);
    if (reason === undefined) {
      echo?.resolve();
      return;
    }
    const refusal = { id: ++this.#count, at: Date.now(), channel, action, reason };
    this.refusals.value = [...this.refusals.peek(), refusal].slice(-MOST_REFUSALS);
    echo?.reject(new Rejected(reason));
  }

  /** The host will not answer these. */
  giveUp(entries: readonly Pending[], reason: string): void {
    for (const { clientSeq, channel, action } of entries) this.settle(clientSeq, channel, action, reason);
  }

  forget(refusal: Refusal): void {
    this.refusals.value = this.refusals.peek().filter(({ id }) => id !== refusal.id);
  }
}
