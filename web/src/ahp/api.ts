/** The interface of the client for views: signals to read, and methods to act. Implemented in `client.ts`. */

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

/** The connection status. */
export type Connection =
  /** Being opened, for the first time or again. */
  | { phase: "connecting"; attempt: number }
  /** `how` it was established: a new connection, a replay of what was missed, or fresh snapshots. */
  | { phase: "connected"; how: "initialize" | "replay" | "snapshot"; since: number }
  /** Lost, and tried again at `retryAt` (Unix milliseconds), or with `client.retry()`. */
  | { phase: "waiting"; attempt: number; retryAt: number; reason: string }
  /** The host wants a key: ask the person, then `client.useKey(key)`. */
  | { phase: "locked"; reason: "missing" | "wrong" }
  /** Waiting does not help: the reason is a sentence. `client.retry()` tries anyway. */
  | { phase: "failed"; reason: string };

/** The status of a watched channel. */
export type Presence =
  /** Requested; there is no state yet. */
  | { status: "loading" }
  /** There is a state. Without a connection it may be old, but it is the last that was seen. */
  | { status: "live" }
  /** It was removed, or was never there, or is not for this key. */
  | { status: "gone"; reason: string };

/** Something that is watched, until it is closed. Any number of watches of one channel share a state. */
export interface Watch<S extends State> {
  readonly uri: URI;
  /** The optimistic state: what the host confirmed, with this client's own actions on top. Never changed
   * in place: the same object means that nothing changed. */
  readonly state: ReadonlySignal<S | undefined>;
  readonly presence: ReadonlySignal<Presence>;
  /** How many of this client's own actions on it the host has not answered yet. */
  readonly pending: ReadonlySignal<number>;
  /** Subscribe to events, in order: every snapshot (the present state at once, if there is one), and
   * every action that the host confirmed. For views that are drawn incrementally, such as terminals. Returns a function that unsubscribes. */
  listen(listener: Listener<S>): () => void;
  close(): void;
}

export interface Listener<S extends State> {
  snapshot(state: S): void;
  action(action: Action, state: S): void;
}

/** An action of this client that the host refused, or whose outcome is unknown. */
export interface Refusal {
  id: number;
  at: number;
  channel: URI;
  action: ClientAction;
  reason: string;
}

/** The grants that this client does not have, each with the reason: it is off at the host, or the key lacks it. */
export type Withheld = Readonly<Record<string, "off" | "key">>;

/** The params of a request; the channel may be left out if it is the root. */
export type Asked<M extends Method> =
  Params<M> extends { channel: Root } ? Omit<Params<M>, "channel"> : Params<M>;

/** A client of one host. */
export interface Client {
  readonly clientId: string;
  readonly connection: ReadonlySignal<Connection>;
  /** The result of the handshake: the default directory, the characters that trigger completions. */
  readonly welcome: ReadonlySignal<InitializeResult | undefined>;
  readonly root: ReadonlySignal<RootState | undefined>;
  /** The grants that this client lacks; empty until the host reports them. */
  readonly withheld: ReadonlySignal<Withheld>;
  /** All sessions, last changed first; undefined until the first list is there. */
  readonly sessions: ReadonlySignal<readonly SessionSummary[] | undefined>;
  /** The last refusals, newest last; `forget` removes one. */
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

  /** Dispatch an action to a channel: it is applied here at once, and at the host when it arrives. Resolves with the host's echo;
   * rejects with `Rejected` if it refuses (the optimistic state is rolled back, and `refusals` has it). Callers
   * need not wait for it or catch it. */
  dispatch(channel: URI, action: ClientAction): Promise<void>;
  /** Send a request to the host. Waits for a connection; rejects with `AhpError` or `TimedOut`. */
  request<M extends Method>(method: M, params: Asked<M>, seconds?: number): Promise<Result<M>>;

  /** Create a session with a new URI, `provider:/uuid`, and return the URI. */
  createSession(params: Omit<CreateSessionParams, "channel">): Promise<URI>;
  /** Create another chat in a session, with a new URI, and return the URI. */
  createChat(session: URI, params: Omit<CreateChatParams, "channel" | "chat">): Promise<URI>;
  /** Create a terminal that this client holds, with a new URI, and return the URI. */
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
  /** As it was sent; for a note, a sentence. */
  text: string;
  /** Bytes on the wire; 0 for a note. */
  size: number;
}

/** The last messages of the connection. */
export interface Tap {
  /** Changes, once for each drawn frame, when there are more. */
  readonly version: ReadonlySignal<number>;
  /** How many there were in total, and their bytes. */
  readonly totals: { in: number; out: number; bytesIn: number; bytesOut: number };
  /** Those that are still kept (thousands), oldest first. */
  frames(): readonly Frame[];
  clear(): void;
}
