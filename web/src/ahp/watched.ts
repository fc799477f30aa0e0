/** All that is watched: what the host says goes into the replica, and from there to the views, once for each frame. */

import { batch } from "@preact/signals";
import { beforeDrawing } from "./drawing";
import type { Outcomes } from "./outcomes";
import { Replica } from "./replica";
import { Resource } from "./resource";
import { shorten } from "./scrollback";
import type { FrameTap } from "./tap";
import type { ActionEnvelope, ClientAction, Snapshot, State, URI } from "./wire";

/** How long a resource stays subscribed when nobody watches it any more: views come and go. */
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

  /** Whether there is a state, or there will be none: it need not be asked for. */
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

  /** Apply all that has come; views are drawn once for it. */
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
    if (isApplied) this.#resources.get(channel)?.tell(action, this.replica.confirmed(channel));
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

  /** Take all that there is anew. What was sent before may be in it, or may never have arrived. */
  loadAll(snapshots: readonly Snapshot[], lastSeen: number): void {
    this.#arrived = [];
    // The host may count from a lower number than before; its own is the one that holds now.
    this.replica.lastSeen = lastSeen;
    const found = new Set(snapshots.map((snapshot) => snapshot.resource));
    this.outcomes.giveUp(this.replica.dropSent(), "the connection broke; what became of it is not known");
    for (const uri of this.replica.subscriptions) if (!found.has(uri)) this.lose(uri, "it is gone");
    this.load(snapshots);
  }

  /** Take what was missed. */
  replay(envelopes: readonly ActionEnvelope[], missing: readonly URI[]): void {
    this.#arrived = [...this.#arrived, ...envelopes];
    this.flush();
    for (const uri of missing) this.lose(uri, "it is gone");
    // What is sent again keeps its number, by which the host knows what it has handled already.
    for (const entry of this.replica.allPending()) entry.isSent = false;
  }

  /** Let views see the optimistic state. */
  show(uri: URI): void {
    const state = this.replica.state(uri);
    if (state) this.#resources.get(uri)?.show(state, this.replica.pending(uri).length);
  }
}
