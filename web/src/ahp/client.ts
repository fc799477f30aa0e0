/** The client: one connection, what is watched over it, and what is done. */

import { computed, signal } from "@preact/signals";
import type { Client, Refusal, Watch } from "./api";
import type { Ask } from "./calls";
import { Catalogue } from "./catalogue";
import { AhpError, Disconnected } from "./errors";
import { Line, type Owner } from "./line";
import { Outcomes } from "./outcomes";
import { resourceOf } from "./reducers";
import type { Pending } from "./replica";
import { FrameTap } from "./tap";
import { Watched } from "./watched";
import {
  type ActionEnvelope,
  type ClientAction,
  type CreateSessionParams,
  type CreateTerminalParams,
  ErrorCode,
  type InitializeResult,
  type Method,
  type Params,
  type ProtocolNotification,
  ROOT,
  type ReconnectResult,
  type Result,
  type RootState,
  type SessionState,
  type State,
  type TerminalState,
  type URI,
  VERSION,
} from "./wire";

/** What a client needs of the world around it. */
export interface Surroundings extends Pick<Owner, "open" | "probe"> {
  clientId: string;
  /** Give another id, and keep that from now on. */
  newId(): string;
  /** A UUID. */
  uuid(): string;
  keepKey(key: string, where: "tab" | "browser"): void;
  dropKey(): void;
  /** Tell when it is worth to try again, and when to see whether the host is still there. */
  heed(retry: () => void, check: () => void): void;
  locale?: string;
}

const ANSWER_SECONDS = 30;

export class AhpClient implements Client {
  readonly tap = new FrameTap();
  readonly welcome = signal<InitializeResult | undefined>(undefined);
  readonly connection;
  readonly sessions;
  readonly root;
  readonly refusals;

  #line: Line;
  #watched: Watched;
  #catalogue = new Catalogue();
  #outcomes = new Outcomes();
  #canResume = false;

  constructor(private readonly around: Surroundings) {
    this.#watched = new Watched(around.clientId, this.#outcomes, this.tap, (uri) => this.#released(uri));
    this.#line = new Line(
      {
        open: () => around.open(),
        probe: () => around.probe(),
        greet: (ask) => this.#greet(ask),
        greeted: () => this.#greeted(),
        receive: (method, params) => this.#receive(method, params),
        takenOver: () => this.#becomeAnother(),
      },
      this.tap,
    );
    this.connection = computed(() => this.#line.state.value);
    this.sessions = this.#catalogue.sessions;
    this.root = this.#watched.resource<RootState>(ROOT).watch().state;
    this.refusals = this.#outcomes.refusals;
  }

  get clientId(): string {
    return this.#watched.replica.clientId;
  }

  // Life

  start(): void {
    this.around.heed(
      () => this.#line.retry(),
      () => this.#line.check(),
    );
    this.#line.connect();
  }

  retry(): void {
    this.#line.retry();
  }

  stop(): void {
    this.#line.stop("the client was stopped");
  }

  useKey(key: string, keep: "tab" | "browser"): void {
    this.around.keepKey(key, keep);
    this.#canResume = false; // another key may be another person's
    this.#line.connect();
  }

  forgetKey(): void {
    this.around.dropKey();
    this.#canResume = false;
    this.#line.connect();
  }

  // Watching

  session(uri: URI): Watch<SessionState> {
    return this.#watch<SessionState>(uri);
  }

  terminal(uri: URI): Watch<TerminalState> {
    return this.#watch<TerminalState>(uri);
  }

  #watch<S extends State>(uri: URI): Watch<S> {
    const isKnown = this.#watched.has(uri);
    const resource = this.#watched.resource<S>(uri);
    const isAsked = isKnown && resource.presence.peek().status !== "gone";
    const watch = resource.watch();
    resource.expect();
    if (!isAsked && this.#line.isConnected) void this.#subscribe(uri);
    return watch;
  }

  async #subscribe(uri: URI): Promise<void> {
    try {
      await this.#line.ask("subscribe", { resource: uri }, ({ snapshot }) => {
        if (this.#watched.has(uri)) this.#watched.load([snapshot]);
      });
    } catch (error) {
      // Without a connection there will be another, which subscribes to all that is watched.
      if (error instanceof AhpError) this.#watched.lose(uri, error.message);
    }
  }

  #released(uri: URI): void {
    if (this.#line.isConnected) this.#line.tell("unsubscribe", { resource: uri });
  }

  // The handshake

  async #greet(ask: Ask): Promise<"initialize" | "replay" | "snapshot"> {
    this.#watched.flush();
    const clientId = this.clientId;
    if (this.#canResume) {
      const { lastSeen, subscriptions } = this.#watched.replica;
      const params = { clientId, lastSeenServerSeq: lastSeen, subscriptions };
      try {
        return (await ask("reconnect", params, (result) => this.#comeBack(result))).type;
      } catch (error) {
        const isFinal = error instanceof AhpError && error.code === ErrorCode.UnsupportedProtocolVersion;
        if (!(error instanceof AhpError) || isFinal) throw error;
        this.tap.note(`The host does not resume, so we begin anew: ${error.message}`);
      }
    }
    const { locale } = this.around;
    const params = {
      protocolVersions: [VERSION],
      clientId,
      initialSubscriptions: this.#watched.uris,
      ...(locale ? { locale } : {}),
    };
    await ask("initialize", params, (result) => this.#begin(result));
    return "initialize";
  }

  #begin(result: InitializeResult): void {
    this.#canResume = true;
    this.welcome.value = result;
    this.#watched.loadAll(result.snapshots, result.serverSeq);
  }

  #comeBack(result: ReconnectResult): void {
    if (result.type === "snapshot") this.#watched.loadAll(result.snapshots, 0);
    else this.#watched.replay(result.actions, result.missing);
  }

  #greeted(): void {
    for (const uri of this.#watched.uris) if (!this.#watched.isSettled(uri)) void this.#subscribe(uri);
    for (const entry of this.#watched.replica.allPending()) if (!entry.isSent) this.#send(entry);
    void this.#list();
  }

  async #list(): Promise<void> {
    this.#catalogue.expect();
    // If the connection breaks there will be another, and another list.
    await this.#line.ask("listSessions", {}, ({ items }) => this.#catalogue.load(items)).catch(() => {});
  }

  /** Another tab has this one's id, as when a tab is duplicated. */
  #becomeAnother(): void {
    this.tap.note("Another window has taken over as this client, so this one goes on as a new one.");
    this.#watched.replica.clientId = this.around.newId();
    this.#canResume = false;
  }

  // What comes

  #receive(method: string, params: unknown): void {
    if (method === "action") this.#watched.receive(params as ActionEnvelope);
    else if (method === "notification") this.#notified(params as { notification?: ProtocolNotification });
  }

  #notified({ notification }: { notification?: ProtocolNotification }): void {
    if (!notification) return;
    this.#watched.flush();
    if (notification.type === "notify/sessionRemoved") {
      this.#watched.lose(notification.session, "it was removed");
    }
    this.#catalogue.take(notification);
  }

  // What is done

  dispatch(action: ClientAction): Promise<void> {
    this.#watched.flush();
    const { replica } = this.#watched;
    const entry = replica.dispatch(action, Date.now());
    const uri = resourceOf(action, ROOT) ?? "";
    if (!replica.has(uri)) return this.#dispatchUnseen(entry);
    const echo = this.#outcomes.expect(entry);
    if (this.#line.isConnected) this.#send(entry);
    this.#watched.show(uri);
    return echo;
  }

  /** What is not watched has no echo; only refusals come. */
  async #dispatchUnseen(entry: Pending): Promise<void> {
    if (this.#line.isConnected) this.#send(entry);
    else this.#outcomes.giveUp([entry], "there is no connection");
  }

  #send(entry: Pending): void {
    entry.isSent = true;
    this.#line.tell("dispatchAction", { clientSeq: entry.clientSeq, action: entry.action });
  }

  forget(refusal: Refusal): void {
    this.#outcomes.forget(refusal);
  }

  request<M extends Method>(method: M, params: Params<M>, seconds = ANSWER_SECONDS): Promise<Result<M>> {
    return this.#line.request(method, params, seconds);
  }

  async createSession(params: Omit<CreateSessionParams, "session">): Promise<URI> {
    const provider = params.provider ?? this.root.peek()?.agents[0]?.provider ?? "session";
    const session = `${provider}:/${this.around.uuid()}`;
    await this.#insist("createSession", { ...params, session }, ErrorCode.SessionAlreadyExists);
    return session;
  }

  async createTerminal(params: Omit<CreateTerminalParams, "terminal" | "claim">): Promise<URI> {
    const terminal = `terminal:/${this.around.uuid()}`;
    const claim = { kind: "client" as const, clientId: this.clientId };
    await this.#insist("createTerminal", { ...params, terminal, claim }, ErrorCode.AlreadyExists);
    return terminal;
  }

  /** Ask again if the connection breaks under it; the refusal `done` then means that the first time did it. */
  async #insist<M extends Method>(method: M, params: Params<M>, done: number): Promise<void> {
    try {
      await this.request(method, params);
    } catch (error) {
      if (!(error instanceof Disconnected)) throw error;
      await this.request(method, params).catch((again) => {
        if (!(again instanceof AhpError && again.code === done)) throw again;
      });
    }
  }
}
