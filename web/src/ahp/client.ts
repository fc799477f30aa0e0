/** The client: one connection, watched channels, and actions. */

import { computed, signal } from "@preact/signals";
import type { Asked, Client, Refusal, Watch, Withheld } from "./api";
import type { Ask } from "./calls";
import { Catalogue } from "./catalogue";
import { AhpError, Disconnected } from "./errors";
import { Line, type Owner } from "./line";
import { Outcomes } from "./outcomes";
import type { Pending } from "./replica";
import { FrameTap } from "./tap";
import { Watched } from "./watched";
import {
  type ActionEnvelope,
  type ChangesetState,
  type ChatState,
  type ClientAction,
  type CreateChatParams,
  type CreateSessionParams,
  type CreateTerminalParams,
  ErrorCode,
  type InitializeResult,
  type Method,
  type Notification,
  type Params,
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

/** The environment of a client. */
export interface Surroundings extends Pick<Owner, "open" | "probe"> {
  clientId: string;
  /** Return a new id, and keep it from now on. */
  newId(): string;
  /** A UUID. */
  uuid(): string;
  keepKey(key: string, where: "tab" | "browser"): void;
  dropKey(): void;
  /** Find out which grants this client does not have. */
  withheld(): Promise<Withheld>;
  /** Report when to reconnect, and when to check whether the host is still there. */
  heed(retry: () => void, check: () => void): void;
  locale?: string;
}

const ANSWER_SECONDS = 30;
const INFO = { name: "agenthost-page", title: "agenthost page" };
const NOTIFICATIONS: readonly string[] = [
  "root/sessionAdded",
  "root/sessionRemoved",
  "root/sessionSummaryChanged",
] satisfies Notification["name"][];

export class AhpClient implements Client {
  readonly tap = new FrameTap();
  readonly welcome = signal<InitializeResult | undefined>(undefined);
  readonly withheld = signal<Withheld>({});
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
    this.#canResume = false; // another key may belong to another person
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

  chat(uri: URI): Watch<ChatState> {
    return this.#watch<ChatState>(uri);
  }

  terminal(uri: URI): Watch<TerminalState> {
    return this.#watch<TerminalState>(uri);
  }

  changeset(uri: URI): Watch<ChangesetState> {
    return this.#watch<ChangesetState>(uri);
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
      await this.#line.ask("subscribe", { channel: uri }, ({ snapshot }) => {
        if (snapshot && this.#watched.has(uri)) this.#watched.load([snapshot]);
      });
    } catch (error) {
      // Without a connection, the next one subscribes to everything that is watched.
      if (error instanceof AhpError) this.#watched.lose(uri, error.message);
    }
  }

  #released(uri: URI): void {
    if (this.#line.isConnected) this.#line.tell("unsubscribe", { channel: uri });
  }

  // The handshake

  async #greet(ask: Ask): Promise<"initialize" | "replay" | "snapshot"> {
    this.#watched.flush();
    const clientId = this.clientId;
    if (this.#canResume) {
      const { lastSeen, subscriptions } = this.#watched.replica;
      const params = { channel: ROOT, clientId, lastSeenServerSeq: lastSeen, subscriptions } as const;
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
      channel: ROOT,
      protocolVersions: [VERSION],
      clientId,
      clientInfo: INFO,
      initialSubscriptions: this.#watched.uris,
      ...(locale ? { locale } : {}),
    } as const;
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
    void this.around.withheld().then((found) => (this.withheld.value = found));
  }

  async #list(): Promise<void> {
    this.#catalogue.expect();
    let cursor: string | undefined;
    try {
      do {
        const params = { channel: ROOT, ...(cursor !== undefined && { cursor }) } as const;
        const { nextCursor } = await this.#line.ask("listSessions", params, (page) =>
          this.#catalogue.load(page.items, page.nextCursor === undefined),
        );
        cursor = nextCursor;
      } while (cursor !== undefined);
    } catch (error) {
      // If the connection breaks there will be another, and another list.
      if (error instanceof AhpError) this.#catalogue.load([], true);
    }
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
    else if (NOTIFICATIONS.includes(method) && params) {
      this.#notified({ name: method, params } as Notification);
    }
  }

  #notified(notification: Notification): void {
    this.#watched.flush();
    if (notification.name === "root/sessionRemoved") {
      this.#watched.lose(notification.params.session, "it was removed");
    }
    this.#catalogue.take(notification);
  }

  // What is done

  dispatch(channel: URI, action: ClientAction): Promise<void> {
    this.#watched.flush();
    const { replica } = this.#watched;
    const entry = replica.dispatch(channel, action);
    if (!replica.has(channel)) return this.#dispatchUnseen(entry);
    const echo = this.#outcomes.expect(entry);
    if (this.#line.isConnected) this.#send(entry);
    this.#watched.show(channel);
    return echo;
  }

  /** Channels that are not watched get no echo, only refusals. */
  async #dispatchUnseen(entry: Pending): Promise<void> {
    if (this.#line.isConnected) this.#send(entry);
    else this.#outcomes.giveUp([entry], "there is no connection");
  }

  #send(entry: Pending): void {
    entry.isSent = true;
    const { channel, clientSeq, action } = entry;
    this.#line.tell("dispatchAction", { channel, clientSeq, action });
  }

  forget(refusal: Refusal): void {
    this.#outcomes.forget(refusal);
  }

  request<M extends Method>(method: M, params: Asked<M>, seconds = ANSWER_SECONDS): Promise<Result<M>> {
    return this.#line.request(method, { channel: ROOT, ...params } as Params<M>, seconds);
  }

  async createSession(params: Omit<CreateSessionParams, "channel">): Promise<URI> {
    const provider = params.provider ?? this.root.peek()?.agents[0]?.provider ?? "session";
    const channel = `${provider}:/${this.around.uuid()}`;
    await this.#insist("createSession", { ...params, channel }, ErrorCode.SessionAlreadyExists);
    return channel;
  }

  async createChat(session: URI, params: Omit<CreateChatParams, "channel" | "chat">): Promise<URI> {
    const chat = `ahp-chat:/${this.around.uuid()}`;
    await this.#insist("createChat", { ...params, channel: session, chat }, ErrorCode.AlreadyExists);
    return chat;
  }

  async createTerminal(params: Omit<CreateTerminalParams, "channel" | "claim">): Promise<URI> {
    const channel = `ahp-terminal:/${this.around.uuid()}`;
    const claim = { kind: "client" as const, clientId: this.clientId };
    await this.#insist("createTerminal", { ...params, channel, claim }, ErrorCode.AlreadyExists);
    return channel;
  }

  /** Repeat the request if the connection breaks. The refusal `done` then means that the first attempt succeeded. */
  async #insist<M extends Method>(method: M, params: Asked<M>, done: number): Promise<void> {
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
