/** The line: a connection that reconnects by itself, and its requests.
 *
 * Requests wait for a connection. If it breaks, read-only requests are repeated; for all
 * others the outcome is unknown, so they fail.
 */

import { signal } from "@preact/signals";
import type { Connection } from "./api";
import { type Ask, Calls, SAFE, within } from "./calls";
import { AhpError, Disconnected } from "./errors";
import type { FrameTap } from "./tap";
import {
  ErrorCode,
  type Method,
  type Params,
  type Result,
  ROOT,
  type RpcMessage,
  type Tellings,
} from "./wire";

/** The part of a WebSocket that is used. */
export interface Socket {
  onopen: ((event: any) => void) | null;
  onmessage: ((event: any) => void) | null;
  onclose: ((event: any) => void) | null;
  send(text: string): void;
  close(code?: number, reason?: string): void;
}

/** The callbacks of a line. */
export interface Owner {
  /** Open a WebSocket to the host. */
  open(): Socket;
  /** Find out why it was refused: browsers do not say. */
  probe(): Promise<"granted" | "missing" | "wrong" | "away">;
  /** The handshake: `initialize` or `reconnect`. Later messages are not read until it is done. */
  greet(ask: Ask): Promise<"initialize" | "replay" | "snapshot">;
  /** Called after the handshake, before other requests are sent. */
  greeted(): void;
  /** Handle a notification of the host. */
  receive(method: string, params: unknown): void;
  /** The host has replaced this connection by another one. */
  takenOver(): void;
}

const OPEN_SECONDS = 15;
/** After how long without a message the host is pinged, and how long it may take to answer. */
const SILENCE_SECONDS = 20;
/** Shorter, if there is a reason to doubt the connection. */
const DOUBT_SECONDS = 5;
const LONGEST_WAIT_SECONDS = 15;
/** A connection that lasted less than this counts as failed: the next attempt waits longer. */
const SHORT_SECONDS = 2;

const CLOSE_POLICY = 1008;
const CLOSE_TAKEN_OVER = 4001;

export class Line {
  readonly state = signal<Connection>({ phase: "connecting", attempt: 0 });
  #socket: Socket | undefined;
  #calls = new Calls((message) => this.#send(message));
  #waiting: { resolve(): void; reject(error: Error): void }[] = [];
  #attempt = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #silence: ReturnType<typeof setTimeout> | undefined;

  constructor(
    private readonly owner: Owner,
    private readonly tap: FrameTap,
  ) {}

  get isConnected(): boolean {
    return this.state.peek().phase === "connected";
  }

  /** Connect, now. */
  connect(): void {
    this.#drop();
    this.state.value = { phase: "connecting", attempt: this.#attempt };
    const socket = this.owner.open();
    this.#socket = socket;
    this.#timer = setTimeout(() => this.#lose(0, "the host does not answer"), OPEN_SECONDS * 1000);
    let isOpen = false;
    socket.onopen = () => {
      isOpen = true;
      this.tap.note("The WebSocket is open.");
      void this.#greet(socket);
    };
    socket.onmessage = ({ data }: { data: unknown }) => this.#read(String(data));
    socket.onclose = ({ code, reason }: { code: number; reason: string }) => {
      if (socket !== this.#socket) return;
      if (isOpen) this.#lose(code, reason || `the connection ended (${code})`);
      else void this.#refused();
    };
  }

  /** Try again, unless there is a connection or one is being made. */
  retry(): void {
    const { phase } = this.state.peek();
    if (phase === "connected" || phase === "connecting") return;
    this.#attempt = 0;
    this.connect();
  }

  /** End it for good. */
  stop(reason: string): void {
    this.#drop();
    this.#fail(reason);
  }

  /** Check whether the host is still there: the machine may have slept. */
  check(): void {
    if (this.isConnected) this.#askForLife(DOUBT_SECONDS);
  }

  async request<M extends Method>(method: M, params: Params<M>, seconds: number): Promise<Result<M>> {
    const until = Date.now() + seconds * 1000;
    for (;;) {
      const left = until - Date.now();
      try {
        return await within(left, `no answer to ${method} in ${seconds} seconds`, (ended) =>
          this.#requestOnce(method, params, ended),
        );
      } catch (error) {
        if (!(error instanceof Disconnected) || !SAFE.has(method)) throw error;
      }
    }
  }

  tell<M extends keyof Tellings>(method: M, params: Tellings[M]): void {
    this.#send({ jsonrpc: "2.0", method, params });
  }

  /** Send a request over the current connection. */
  get ask(): Ask {
    return this.#calls.ask;
  }

  async #requestOnce<M extends Method>(method: M, params: Params<M>, ended: AbortSignal): Promise<Result<M>> {
    if (!this.isConnected) {
      await new Promise<void>((resolve, reject) => this.#waiting.push({ resolve, reject }));
    }
    ended.throwIfAborted(); // it has timed out
    return await this.ask(method, params);
  }

  async #greet(socket: Socket): Promise<void> {
    try {
      const how = await this.owner.greet(this.ask);
      if (socket !== this.#socket) return;
      clearTimeout(this.#timer);
      this.state.value = { phase: "connected", how, since: Date.now() };
      this.#listen();
      this.owner.greeted();
      this.#waiting.splice(0).forEach(({ resolve }) => resolve());
    } catch (error) {
      if (socket !== this.#socket) return;
      const reason = error instanceof Error ? error.message : String(error);
      if (error instanceof AhpError && error.code === ErrorCode.UnsupportedProtocolVersion) {
        this.#drop();
        this.#fail(`This page and its host speak different versions of AHP: ${reason}`);
      } else this.#lose(0, reason);
    }
  }

  #read(text: string): void {
    this.tap.message("in", text);
    this.#listen();
    const message = parsed(text);
    if (message === undefined) {
      this.tap.note("The frame above is no JSON-RPC message.");
    } else if (typeof message.method === "string") {
      if (message.id !== undefined && message.id !== null) this.#decline(message);
      else this.owner.receive(message.method, message.params);
    } else if (typeof message.id === "number") this.#calls.answer(message.id, message);
  }

  /** A host may ask for this client's files; there are none. */
  #decline(message: RpcMessage): void {
    const error = { code: ErrorCode.MethodNotFound, message: "this client takes no requests" };
    this.#send({ jsonrpc: "2.0", id: message.id!, error });
  }

  #send(message: RpcMessage): void {
    const text = JSON.stringify(message);
    this.tap.message("out", text);
    this.#socket?.send(text);
  }

  // The end of a connection

  #lose(code: number, reason: string): void {
    this.tap.note(`The connection is lost: ${reason}`);
    const old = this.state.peek();
    const lasted = old.phase === "connected" ? Date.now() - old.since : 0;
    if (lasted > SHORT_SECONDS * 1000) this.#attempt = 0;
    this.#drop();
    if (code === CLOSE_TAKEN_OVER) this.owner.takenOver();
    if (code === CLOSE_POLICY) void this.#refused(reason);
    else this.#wait(reason);
  }

  async #refused(reason = "the host cannot be reached"): Promise<void> {
    this.#drop();
    const found = await this.owner.probe();
    if (this.#socket) return; // another attempt was faster
    if (found === "missing" || found === "wrong") this.state.value = { phase: "locked", reason: found };
    else if (found === "granted") this.#wait("the host is there, but takes no connection");
    else this.#wait(reason);
  }

  #wait(reason: string): void {
    const longest = Math.min(LONGEST_WAIT_SECONDS, 0.25 * 2 ** this.#attempt) * 1000;
    const wait = longest * (0.5 + Math.random() / 2); // jitter: not all clients at once
    this.#attempt += 1;
    this.state.value = { phase: "waiting", attempt: this.#attempt, retryAt: Date.now() + wait, reason };
    this.#timer = setTimeout(() => this.connect(), wait);
  }

  #fail(reason: string): void {
    this.state.value = { phase: "failed", reason };
    this.#waiting.splice(0).forEach(({ reject }) => reject(new Disconnected(reason)));
  }

  #drop(): void {
    clearTimeout(this.#timer);
    clearTimeout(this.#silence);
    const socket = this.#socket;
    this.#socket = undefined;
    if (socket) {
      socket.onopen = socket.onmessage = socket.onclose = null;
      socket.close();
    }
    this.#calls.breakOff(new Disconnected("the connection broke; what became of this is not known"));
  }

  // Pings

  #listen(): void {
    clearTimeout(this.#silence);
    this.#silence = setTimeout(() => this.#askForLife(), SILENCE_SECONDS * 1000);
  }

  #askForLife(seconds = SILENCE_SECONDS): void {
    clearTimeout(this.#silence);
    this.#silence = setTimeout(() => this.#lose(0, "the host is silent"), seconds * 1000);
    this.ask("ping", { channel: ROOT }).catch(() => {}); // any message counts
  }
}

function parsed(text: string): RpcMessage | undefined {
  try {
    const message: unknown = JSON.parse(text);
    return typeof message === "object" && message !== null ? (message as RpcMessage) : undefined;
  } catch {
    return undefined;
  }
}
