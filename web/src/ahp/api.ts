/** What the views see of the client: signals to read, and ways to act. `client.ts` does it. */

import type { ReadonlySignal } from "@preact/signals";
import type {
  Action,
  ChangesetState,
  ChatState,
  ClientAction,
  CreateChatParams,
  CreateSessionParams,
  CreateTerminalParams,
  InitializeResult,
  Method,
  Params,
  Result,
  Root,
  RootState,
  SessionState,
  SessionSummary,
  State,
  TerminalState,
  URI,
} from "./wire";

/** How the connection is. */
export type Connection =
  /** Being opened, for the first time or again. */
  | { phase: "connecting"; attempt: number }
  /** `how` it came about: anew, with what was missed, or with everything once more. */
  | { phase: "connected"; how: "initialize" | "replay" | "snapshot"; since: number }
  /** Lost, and tried again at `retryAt` (Unix milliseconds), or with `client.retry()`. */
  | { phase: "waiting"; attempt: number; retryAt: number; reason: string }
  /** The host wants a key: ask the person, then `client.useKey(key)`. */
  | { phase: "locked"; reason: "missing" | "wrong" }
  /** No waiting makes it good: the reason is a sentence. `client.retry()` tries all the same. */
  | { phase: "failed"; reason: string };

/** How a channel that is watched is here. */
export type Presence =
  /** Asked for; there is no state yet. */
  | { status: "loading" }
  /** There is a state. Without a connection it may be old, but it is the last that was seen. */
  | { status: "live" }
  /** It was removed, or was never there, or is not for this key. */
  | { status: "gone"; reason: string };

/** Something that is watched, until it is closed. Any number of watches of one channel share a state. */
export interface Watch<S extends State> {
  readonly uri: URI;
  /** The optimistic state: what the host confirmed, with this client's own actions on top. Never changed
   * in place: what is the same object is the same. */
  readonly state: ReadonlySignal<S | undefined>;
  readonly presence: ReadonlySignal<Presence>;
  /** How many of this client's own actions on it the host has not answered yet. */
  readonly pending: ReadonlySignal<number>;
  /** Be told of what happens, in order: every snapshot (the present state at once, if there is one), and
   * every action that the host confirmed. For what is drawn piece by piece, as a terminal. Gives the end of it. */
  listen(listener: Listener<S>): () => void;
  close(): void;
}

export interface Listener<S extends State> {
  snapshot(state: S): void;
  action(action: Action, state: S): void;
}

/** An action of this client that the host refused, or of which nobody knows what became. */
export interface Refusal {
  id: number;
  at: number;
  channel: URI;
  action: ClientAction;
  reason: string;
}

/** The grants that this client does not have, each with why: it is off at the host, or the key is without. */
export type Withheld = Readonly<Record<string, "off" | "key">>;

/** What a request is given: the params, of which the channel may be left out where it is the root. */
export type Asked<M extends Method> =
  Params<M> extends { channel: Root } ? Omit<Params<M>, "channel"> : Params<M>;

/** A client of one host. */
export interface Client {
  readonly clientId: string;
  readonly connection: ReadonlySignal<Connection>;
  /** What the host said first: the default directory, the characters that trigger completions. */
  readonly welcome: ReadonlySignal<InitializeResult | undefined>;
  readonly root: ReadonlySignal<RootState | undefined>;
  /** What this client may not do; nothing, as long as the host has not said so. */
  readonly withheld: ReadonlySignal<Withheld>;
  /** All sessions, last changed first; undefined until the first list is there. */
  readonly sessions: ReadonlySignal<readonly SessionSummary[] | undefined>;
  /** The last refusals, newest last; `forget` takes one away. */
  readonly refusals: ReadonlySignal<readonly Refusal[]>;
  readonly tap: Tap;

  start(): void;
  /** Try again now. */
  retry(): void;
  /** Connect with this key from now on; kept for this tab, or for this browser. */
  useKey(key: string, keep: "tab" | "browser"): void;
  forgetKey(): void;
  stop(): void;

  session(uri: URI): Watch<SessionState>;
  chat(uri: URI): Watch<ChatState>;
  terminal(uri: URI): Watch<TerminalState>;
  changeset(uri: URI): Watch<ChangesetState>;

  /** Let an action happen on a channel: here at once, at the host when it gets there. Resolves with the host's echo;
   * rejects with `Rejected` if it refuses (the optimistic state is rolled back, and `refusals` has it). Nobody
   * has to wait for it or catch it. */
  dispatch(channel: URI, action: ClientAction): Promise<void>;
  /** Ask the host for something. Waits for a connection; rejects with `AhpError` or `TimedOut`. */
  request<M extends Method>(method: M, params: Asked<M>, seconds?: number): Promise<Result<M>>;

  /** Make a session with a URI of its own, `provider:/uuid`, and give that. */
  createSession(params: Omit<CreateSessionParams, "channel">): Promise<URI>;
  /** Make another chat in a session, with a URI of its own, and give that. */
  createChat(session: URI, params: Omit<CreateChatParams, "channel" | "chat">): Promise<URI>;
  /** Make a terminal that this client holds, with a URI of its own, and give that. */
  createTerminal(params: Omit<CreateTerminalParams, "channel" | "claim">): Promise<URI>;
  forget(refusal: Refusal): void;
}

/** One message of the connection, or something that happened to it. Tokens are masked. */
export interface Frame {
  /** Counts up; the first of all is 1. */
  n: number;
  /** Unix milliseconds. */
  at: number;
  kind: "in" | "out" | "note";
  /** As it was sent; of a note, a sentence. */
  text: string;
  /** Bytes on the wire; 0 for a note. */
  size: number;
}

/** The last messages of the connection. */
export interface Tap {
  /** Changes, once for each drawn frame, when there are more. */
  readonly version: ReadonlySignal<number>;
  /** How many there were in all, and their bytes. */
  readonly totals: { in: number; out: number; bytesIn: number; bytesOut: number };
  /** Those that are still kept (thousands), oldest first. */
  frames(): readonly Frame[];
  clear(): void;
}
