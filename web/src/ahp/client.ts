/** The client: one connection, what is watched over it, and what is done. */

import { batch, computed, signal } from "@preact/signals";
import type { Client, Refusal, Watch } from "./api";
import { Catalogue } from "./catalogue";
import { beforeDrawing } from "./drawing";
import { AhpError, Rejected } from "./errors";
import { type Ask, Line, type Owner } from "./line";
import { resourceOf } from "./reducers";
import { type Pending, Replica } from "./replica";
import { Resource, type Released } from "./resource";
import { shorten } from "./scrollback";
import { FrameTap } from "./tap";
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
  type Snapshot,
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
const MOST_REFUSALS = 20;
/** How long a resource stays subscribed when nobody watches it any more: views come and go. */
const LINGER_MILLISECONDS = 1000;

interface Echo {
  resolve(): void;
  reject(error: Error): void;
}

export class AhpClient implements Client {
  readonly tap = new FrameTap();
  readonly welcome = signal<InitializeResult | undefined>(undefined);
  readonly refusals = signal<readonly Refusal[]>([]);
  readonly connection;
  readonly sessions;
  readonly root;

  #line: Line;
  #replica: Replica;
  #catalogue = new Catalogue();
  #resources = new Map<URI, Resource<any>>();
  #echoes = new Map<number, Echo>();
  #arrived: ActionEnvelope[] = [];
  #canResume = false;
  #refusalCount = 0;

  constructor(private readonly around: Surroundings) {
    this.#replica = new Replica(around.clientId);
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
    const root = this.#resource<RootState>(ROOT).watch();
    this.connection = computed(() => this.#line.state.value);
    this.sessions = this.#catalogue.sessions;
    this.root = root.state;
  }

  get clientId(): string {
    return this.#replica.clientId;
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
    const isKnown = this.#resources.has(uri);
    const resource = this.#resource<S>(uri);
    const isAsked = isKnown && resource.presence.peek().status !== "gone";
    const watch = resource.watch();
    resource.expect();
    if (!isAsked && this.#line.isConnected) void this.#subscribe(uri);
    return watch;
  }

  #resource<S extends State>(uri: URI): Resource<S> {
    let resource = this.#resources.get(uri);
    if (!resource) {
      const released: Released = () => setTimeout(() => this.#release(uri), LINGER_MILLISECONDS);
      resource = new Resource<S>(uri, released);
      this.#resources.set(uri, resource);
    }
    return resource;
  }

  #release(uri: URI): void {
    const resource = this.#resources.get(uri);
    if (!resource || resource.isWatched) return;
    this.#resources.delete(uri);
    this.#giveUp(this.#replica.forget(uri), "nobody watches that any more");
    if (this.#line.isConnected) this.#line.tell("unsubscribe", { resource: uri });
  }

  async #subscribe(uri: URI): Promise<void> {
    try {
      await this.#line.ask("subscribe", { resource: uri }, ({ snapshot }) => {
        if (this.#resources.has(uri)) this.#load([snapshot]);
      });
    } catch (error) {
      // Without a connection there will be another, which subscribes to all that is watched.
      if (error instanceof AhpError) this.#lose(uri, error.message);
    }
  }

  /** A resource is gone. */
  #lose(uri: URI, reason: string): void {
    this.#giveUp(this.#replica.forget(uri), reason);
    this.#resources.get(uri)?.lose(reason);
  }

  // The handshake

  async #greet(ask: Ask): Promise<"initialize" | "replay" | "snapshot"> {
    this.#flush();
    const clientId = this.clientId;
    if (this.#canResume) {
      const params = {
        clientId,
        lastSeenServerSeq: this.#replica.lastSeen,
        subscriptions: this.#replica.subscriptions,
      };
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
      initialSubscriptions: [...this.#resources.keys()],
      ...(locale ? { locale } : {}),
    };
    await ask("initialize", params, (result) => this.#begin(result));
    return "initialize";
  }

  #begin(result: InitializeResult): void {
    this.#canResume = true;
    this.welcome.value = result;
    this.#replica.lastSeen = result.serverSeq;
    this.#loadAll(result.snapshots);
  }

  #comeBack(result: ReconnectResult): void {
    if (result.type === "snapshot") {
      // The host may count from a lower number than before; its own is the one that holds now.
      this.#replica.lastSeen = 0;
      this.#loadAll(result.snapshots);
      return;
    }
    this.#arrived = [...this.#arrived, ...result.actions];
    this.#flush();
    for (const uri of result.missing) this.#lose(uri, "it is gone");
    // What is sent again keeps its number, by which the host knows what it has handled already.
    for (const entry of this.#replica.allPending()) entry.isSent = false;
  }

  /** Take all that there is anew. What was sent before may be in it, or may never have arrived. */
  #loadAll(snapshots: readonly Snapshot[]): void {
    this.#arrived = [];
    const found = new Set(snapshots.map((snapshot) => snapshot.resource));
    this.#giveUp(this.#replica.dropSent(), "the connection broke; what became of it is not known");
    for (const uri of this.#replica.subscriptions) if (!found.has(uri)) this.#lose(uri, "it is gone");
    this.#load(snapshots);
  }

  #greeted(): void {
    for (const [uri, resource] of this.#resources) {
      const isThere = this.#replica.has(uri) || resource.presence.peek().status === "gone";
      if (!isThere) void this.#subscribe(uri);
    }
    for (const entry of this.#replica.allPending()) if (!entry.isSent) this.#send(entry);
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
    this.#replica.clientId = this.around.newId();
    this.#canResume = false;
  }

  // What comes

  #receive(method: string, params: unknown): void {
    if (method === "action") {
      this.#arrived.push(params as ActionEnvelope);
      if (this.#arrived.length === 1) beforeDrawing(() => this.#flush());
    } else if (method === "notification") {
      this.#flush();
      this.#notified((params as { notification: ProtocolNotification }).notification);
    }
  }

  #notified(notification: ProtocolNotification): void {
    if (notification.type === "notify/sessionRemoved") this.#lose(notification.session, "it was removed");
    this.#catalogue.take(notification);
  }

  /** Apply all that has come; views are drawn once for it. */
  #flush(): void {
    const envelopes = this.#arrived;
    if (!envelopes.length) return;
    this.#arrived = [];
    const now = Date.now();
    batch(() => {
      const touched = new Set<URI>();
      for (const envelope of envelopes) {
        const { uri, answers, rejection, isApplied } = this.#replica.apply(envelope, now);
        if (uri === undefined) continue;
        touched.add(uri);
        if (isApplied) this.#resources.get(uri)?.tell(envelope.action, this.#replica.confirmed(uri));
        if (answers !== undefined) this.#answered(answers, envelope.action as ClientAction, rejection);
      }
      for (const uri of touched) {
        this.#replica.shrink(uri, shorten);
        this.#show(uri);
      }
    });
  }

  #load(snapshots: readonly Snapshot[]): void {
    this.#flush();
    batch(() => {
      for (const snapshot of snapshots) {
        this.#replica.load(snapshot);
        this.#resources.get(snapshot.resource)?.reset(snapshot.state);
        this.#show(snapshot.resource);
      }
    });
  }

  #show(uri: URI): void {
    const state = this.#replica.state(uri);
    if (state) this.#resources.get(uri)?.show(state, this.#replica.pending(uri).length);
  }

  // What is done

  dispatch(action: ClientAction): Promise<void> {
    this.#flush();
    const entry = this.#replica.dispatch(action, Date.now());
    const uri = resourceOf(action, ROOT) ?? "";
    if (!this.#replica.has(uri)) return this.#dispatchUnseen(entry);
    const echo = new Promise<void>((resolve, reject) => {
      this.#echoes.set(entry.clientSeq, { resolve, reject });
    });
    echo.catch(() => {}); // `refusals` has it, so nobody has to
    if (this.#line.isConnected) this.#send(entry);
    this.#show(uri);
    return echo;
  }

  /** What is not watched has no echo; only refusals come. */
  async #dispatchUnseen(entry: Pending): Promise<void> {
    if (this.#line.isConnected) this.#send(entry);
    else this.#answered(entry.clientSeq, entry.action, "there is no connection");
  }

  #send(entry: Pending): void {
    entry.isSent = true;
    this.#line.tell("dispatchAction", { clientSeq: entry.clientSeq, action: entry.action });
  }

  #answered(clientSeq: number, action: ClientAction, rejection: string | undefined): void {
    const echo = this.#echoes.get(clientSeq);
    this.#echoes.delete(clientSeq);
    if (rejection === undefined) {
      echo?.resolve();
      return;
    }
    const refusal = { id: ++this.#refusalCount, at: Date.now(), action, reason: rejection };
    this.refusals.value = [...this.refusals.peek(), refusal].slice(-MOST_REFUSALS);
    echo?.reject(new Rejected(rejection));
  }

  #giveUp(entries: readonly Pending[], reason: string): void {
    for (const { clientSeq, action } of entries) this.#answered(clientSeq, action, reason);
  }

  forget(refusal: Refusal): void {
    this.refusals.value = this.refusals.peek().filter(({ id }) => id !== refusal.id);
  }

  request<M extends Method>(method: M, params: Params<M>, seconds = ANSWER_SECONDS): Promise<Result<M>> {
    return this.#line.request(method, params, seconds);
  }

  async createSession(params: Omit<CreateSessionParams, "session">): Promise<URI> {
    const provider = params.provider ?? this.root.peek()?.agents[0]?.provider ?? "session";
    const session = `${provider}:/${this.around.uuid()}`;
    await this.request("createSession", { ...params, session });
    return session;
  }

  async createTerminal(params: Omit<CreateTerminalParams, "terminal" | "claim">): Promise<URI> {
    const terminal = `terminal:/${this.around.uuid()}`;
    const claim = { kind: "client" as const, clientId: this.clientId };
    await this.request("createTerminal", { ...params, terminal, claim });
    return terminal;
  }
}
