/** A resource as views see it: its state and status, shared by all watchers. */

import { signal } from "@preact/signals";
import type { Listener, Presence, Watch } from "./api";
import type { Action, State, URI } from "./wire";

/** Called when the last watcher is gone. */
export type Released = () => void;

export class Resource<S extends State> {
  readonly state = signal<S | undefined>(undefined);
  readonly presence = signal<Presence>({ status: "loading" });
  readonly pending = signal(0);
  #listeners = new Set<Listener<S>>();
  #confirmed: S | undefined;
  #watches = 0;

  constructor(
    readonly uri: URI,
    private readonly released: Released,
  ) {}

  get isWatched(): boolean {
    return this.#watches > 0;
  }

  watch(): Watch<S> {
    this.#watches += 1;
    let isOpen = true;
    const { uri, state, presence, pending } = this;
    return {
      uri,
      state,
      presence,
      pending,
      listen: (listener) => this.#listen(listener),
      close: () => {
        if (!isOpen) return;
        isOpen = false;
        this.#watches -= 1;
        if (!this.#watches) this.released();
      },
    };
  }

  #listen(listener: Listener<S>): () => void {
    this.#listeners.add(listener);
    if (this.#confirmed) listener.snapshot(this.#confirmed);
    return () => this.#listeners.delete(listener);
  }

  /** It is being requested, for the first time or again. */
  expect(): void {
    if (this.presence.peek().status === "gone") this.presence.value = { status: "loading" };
  }

  /** A snapshot has arrived. */
  reset(state: S): void {
    this.#confirmed = state;
    for (const listener of this.#listeners) listener.snapshot(state);
  }

  /** The host confirmed an action, which led to this state. */
  tell(action: Action, state: S): void {
    this.#confirmed = state;
    for (const listener of this.#listeners) listener.action(action, state);
  }

  /** Show the optimistic state. */
  show(state: S, pending: number): void {
    this.state.value = state;
    this.pending.value = pending;
    if (this.presence.peek().status !== "live") this.presence.value = { status: "live" };
  }

  /** It is gone; its last state stays visible. */
  lose(reason: string): void {
    this.presence.value = { status: "gone", reason };
    this.pending.value = 0;
  }
}
