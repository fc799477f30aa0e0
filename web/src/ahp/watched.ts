/** Everything that is watched: messages of the host go into the replica, and from there to the views, once per frame. */

import { batch } from "@preact/signals";
import { beforeDrawing } from "./drawing";
import type { Outcomes } from "./outcomes";
import { Replica } from "./replica";
import { Resource } from "./resource";
import { shorten } from "./scrollback";
import type { FrameTap } from "./tap";
import type { ActionEnvelope, ClientAction, Snapshot, State, URI } from "./wire";

/** How long a resource stays subscribed without watchers: views come and go. */
const LINGER_MILLISECONDS = 1000;

export class Watched {
  readonly replica: Replica;
  readonly #resources = new Map<URI, Resource<any>>();
  #arrived: ActionEnvelope[] = [];

  constructor(
    clientId: string,
    private readonly outcomes: Outcomes,
    private readonly tap: FrameTap,
    private readonly released: (uri: URI) => void,
  ) {
    this.replica = new Replica(clientId);
  }

  get uris(): URI[] {
    return [...this.#resources.keys()];
  }

  has(uri: URI): boolean {
    return this.#resources.has(uri);
  }

  /** Whether there is a state, or will never be one: it need not be requested. */
  isSettled(uri: URI): boolean {
    return this.replica.has(uri) || this.#resources.get(uri)?.presence.peek().status === "gone";
  }

  resource<S extends State>(uri: URI): Resource<S> {
    let resource = this.#resources.get(uri);
    if (!resource) {
      resource = new Resource<S>(uri, () => setTimeout(() => this.#release(uri), LINGER_MILLISECONDS));
      this.#resources.set(uri, resource);
    }
    return resource;
  }

  #release(uri: URI): void {
    if (this.#resources.get(uri)?.isWatched !== false) return;
    this.#resources.delete(uri);
    this.outcomes.giveUp(this.replica.forget(uri), "nobody watches that any more");
    this.released(uri);
  }

  /** A resource is gone. */
  lose(uri: URI, reason: string): void {
    this.outcomes.giveUp(this.replica.forget(uri), reason);
    this.#resources.get(uri)?.lose(reason);
  }

  // What comes

  receive(envelope: ActionEnvelope): void {
    this.#arrived.push(envelope);
    if (this.#arrived.length === 1) beforeDrawing(() => this.flush());
  }

  /** Apply everything that has arrived; views are drawn once for it. */
  flush(): void {
    const envelopes = this.#arrived;
    if (!envelopes.length) return;
    this.#arrived = [];
    batch(() => {
      const touched = new Set<URI>();
      for (const envelope of envelopes) {
        try {
          this.#apply(envelope);
          touched.add(envelope.channel);
        } catch (error) {
          this.tap.note(
            `Action ${envelope?.serverSeq} is not as it should be, and was passed over: ${error}`,
          );
        }
      }
      for (const uri of touched) {
        this.replica.shrink(uri, shorten);
        this.show(uri);
      }
    });
  }

  #apply(envelope: ActionEnvelope): void {
    const { channel, action } = envelope;
    const { answers, rejection, isApplied } = this.replica.apply(envelope);
    if (isApplied) {
      this.#resources.get(channel)?.tell(action, this.replica.confirmed(channel));
      // On its own channel nothing tells of it, and views may come back to it.
      if (action.type === "session/chatRemoved") this.lose(action.chat, "It was removed.");
    }
    if (answers !== undefined) {
      this.outcomes.settle(answers, channel, action as ClientAction, rejection);
    }
  }

  load(snapshots: readonly Snapshot[]): void {
    this.flush();
    batch(() => {
      for (const snapshot of snapshots) {
        this.replica.load(snapshot);
        this.#resources.get(snapshot.resource)?.reset(snapshot.state);
        this.show(snapshot.resource);
      }
    });
  }

  /** Replace all states with snapshots. Actions sent before may be included, or may never have arrived. */
  loadAll(snapshots: readonly Snapshot[], lastSeen: number): void {
    this.#arrived = [];
    // The host may start from a lower number than before; its number counts.
    this.replica.lastSeen = lastSeen;
    const found = new Set(snapshots.map((snapshot) => snapshot.resource));
    this.outcomes.giveUp(this.replica.dropSent(), "the connection broke; what became of it is not known");
    for (const uri of this.replica.subscriptions) if (!found.has(uri)) this.lose(uri, "it is gone");
    this.load(snapshots);
  }

  /** Apply what was missed. */
  replay(envelopes: readonly ActionEnvelope[], missing: readonly URI[]): void {
    this.#arrived = [...this.#arrived, ...envelopes];
    this.flush();
    for (const uri of missing) this.lose(uri, "it is gone");
    // Repeated actions keep their numbers, so the host recognizes those that it has handled.
    for (const entry of this.replica.allPending()) entry.isSent = false;
  }

  /** Show the optimistic states to the views. */
  show(uri: URI): void {
    const state = this.replica.state(uri);
    if (state) this.#resources.get(uri)?.show(state, this.replica.pending(uri).length);
  }
}
