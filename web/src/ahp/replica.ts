/** Replicas: the client's copy of what it watches.
 *
 * For each channel: the state that the host confirmed, the client's own actions that it has not confirmed yet, and
 * the state as it will be if it does: the optimistic one, which is what people see. The host wins every conflict.
 * Knows no connection: the caller feeds it.
 */

import { type Kind, kindOf, reduce } from "./reducers";
import type { ActionEnvelope, ClientAction, Snapshot, State, URI } from "./wire";

/** An action of this client that the host has not answered yet. */
export interface Pending {
  clientSeq: number;
  channel: URI;
  action: ClientAction;
  isSent: boolean;
}

/** The effect of an envelope: which action it answers, why that was refused, and whether the state has changed. */
export interface Outcome {
  answers?: number;
  rejection?: string;
  isApplied: boolean;
}

class Mirror {
  pending: readonly Pending[] = [];
  #optimistic: State | undefined;

  constructor(
    readonly kind: Kind,
    public confirmed: State,
    public seq: number,
  ) {}

  get view(): State {
    this.#optimistic ??= this.pending.reduce(
      (state, entry) => reduce(this.kind, state, entry.action),
      this.confirmed,
    );
    return this.#optimistic;
  }

  lay(pending: readonly Pending[]): void {
    this.pending = pending;
    this.#optimistic = undefined;
  }

  confirm(state: State, seq: number): void {
    this.confirmed = state;
    this.seq = seq;
    this.#optimistic = undefined;
  }
}

export class Replica {
  lastSeen = 0;
  #clientSeq = 0;
  #mirrors = new Map<URI, Mirror>();

  constructor(public clientId: string) {}

  get subscriptions(): URI[] {
    return [...this.#mirrors.keys()];
  }

  has(uri: URI): boolean {
    return this.#mirrors.has(uri);
  }

  /** Return the optimistic state of a channel. */
  state(uri: URI): State | undefined {
    return this.#mirrors.get(uri)?.view;
  }

  confirmed(uri: URI): State | undefined {
    return this.#mirrors.get(uri)?.confirmed;
  }

  pending(uri: URI): readonly Pending[] {
    return this.#mirrors.get(uri)?.pending ?? [];
  }

  /** Replace the state of a channel with a snapshot; pending actions stay on top. */
  load(snapshot: Snapshot): void {
    const mirror = new Mirror(kindOf(snapshot.state), snapshot.state, snapshot.fromSeq);
    mirror.lay(this.pending(snapshot.resource));
    this.#mirrors.set(snapshot.resource, mirror);
    this.lastSeen = Math.max(this.lastSeen, snapshot.fromSeq);
  }

  /** Replace the confirmed state with a smaller one: a client may keep less than its host. */
  shrink(uri: URI, smaller: (state: State) => State): void {
    const mirror = this.#mirrors.get(uri);
    if (!mirror) return;
    const state = smaller(mirror.confirmed);
    if (state !== mirror.confirmed) mirror.confirm(state, mirror.seq);
  }

  /** Stop watching a channel. Returns its pending actions, whose outcome stays unknown. */
  forget(uri: URI): readonly Pending[] {
    const pending = this.pending(uri);
    this.#mirrors.delete(uri);
    return pending;
  }

  /** Apply an action of this client at once, and return the message to send to the host. */
  dispatch(channel: URI, action: ClientAction): Pending {
    const entry = { clientSeq: ++this.#clientSeq, channel, action, isSent: false };
    const mirror = this.#mirrors.get(channel);
    mirror?.lay([...mirror.pending, entry]);
    return entry;
  }

  /** Apply an envelope of the host. */
  apply(envelope: ActionEnvelope): Outcome {
    const { channel, action, serverSeq, origin, rejectionReason } = envelope;
    this.lastSeen = Math.max(this.lastSeen, serverSeq);
    const mirror = this.#mirrors.get(channel);
    const outcome: Outcome = { isApplied: false };
    if (origin?.clientId === this.clientId) {
      outcome.answers = origin.clientSeq;
      // At any position: echoes may arrive out of order.
      mirror?.lay(mirror.pending.filter((entry) => entry.clientSeq !== origin.clientSeq));
    }
    if (typeof rejectionReason === "string") outcome.rejection = rejectionReason;
    else if (mirror && serverSeq > mirror.seq) {
      mirror.confirm(reduce(mirror.kind, mirror.confirmed, action), serverSeq);
      outcome.isApplied = true;
    }
    return outcome;
  }

  /** Return the pending actions of all channels, in the order in which they were dispatched. */
  allPending(): Pending[] {
    const all = [...this.#mirrors.values()].flatMap((mirror) => mirror.pending);
    return all.sort((one, other) => one.clientSeq - other.clientSeq);
  }

  /** Drop actions that were sent and not answered: snapshots may include them, or they never arrived. */
  dropSent(): Pending[] {
    const dropped = this.allPending().filter((entry) => entry.isSent);
    for (const mirror of this.#mirrors.values()) mirror.lay(mirror.pending.filter((entry) => !entry.isSent));
    return dropped;
  }
}
