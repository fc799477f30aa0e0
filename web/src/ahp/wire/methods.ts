/** What goes over a connection: the commands with their params and results, notifications, errors.
 *
 * All params have a `channel`: what they are about, or the root for what concerns the host or the connection.
 */

import type { JsonObject, Meta, ProtectedResourceMetadata, Root, SessionConfigSchema, URI } from "./common";
import type { ActionEnvelope, ClientAction } from "./actions";
import type { ChangesetState } from "./changeset";
import type { ChatState } from "./chat";
import type { Message, MessageAttachment } from "./message";
import type { SessionActiveClient, SessionState, SessionSummary } from "./session";
import type { RootState, TerminalClaim, TerminalState } from "./terminal";

export const VERSION = "1.0.0";

export type State = RootState | SessionState | ChatState | TerminalState | ChangesetState;

export interface Snapshot<S = State> {
  resource: URI;
  state: S;
  /** Everything up to this number is in the state. */
  fromSeq: number;
}

/** A program, and its version. */
export interface Implementation {
  name: string;
  version?: string;
  title?: string;
}

export interface InitializeResult {
  protocolVersion: string;
  serverSeq: number;
  snapshots: readonly Snapshot[];
  serverInfo?: Implementation;
  /** Where to begin to look for files. */
  defaultDirectory?: URI;
  /** After typing one of these, ask for `completions`. */
  completionTriggerCharacters?: readonly string[];
  _meta?: Meta;
}

export type ReconnectResult =
  | { type: "replay"; actions: readonly ActionEnvelope[]; missing: readonly URI[] }
  | { type: "snapshot"; snapshots: readonly Snapshot[] };

export type Encoding = "base64" | "utf-8";

/** Params of what is about the root. */
type OfRoot<Fields = unknown> = { channel: Root; _meta?: Meta } & Fields;
/** Params of what is about something else: a session, a chat, a terminal. */
type Of<Fields = unknown> = { channel: URI; _meta?: Meta } & Fields;

export type CreateSessionParams = Of<{
  provider?: string;
  workingDirectories?: readonly URI[];
  config?: JsonObject;
  activeClient?: SessionActiveClient;
  progressToken?: string;
}>;

/** The channel is the session. */
export type CreateChatParams = Of<{
  chat: URI;
  initialMessage?: Message;
  /** Where it begins: with the turns up to this one. */
  source?:
    | { kind: "fork"; chat: URI; turnId: string }
    | { kind: "sideChat"; chat: URI; turnId: string; selection?: { text: string; responsePartId?: string } };
  workingDirectories?: readonly URI[];
}>;

export type CreateTerminalParams = Of<{
  claim: TerminalClaim;
  name?: string;
  cwd?: URI;
  cols?: number;
  rows?: number;
}>;

export interface DirectoryEntry {
  name: string;
  type: "file" | "directory";
}

/** Replace `[rangeStart, rangeEnd)` by the text (UTF-16 units), or insert it, and attach what is attached. */
export interface CompletionItem {
  insertText: string;
  rangeStart?: number;
  rangeEnd?: number;
  attachment: MessageAttachment;
}

interface ConfigQuestion {
  provider?: string;
  workingDirectory?: URI;
  config?: JsonObject;
}

type Nothing = Record<string, never>;

/** Every request that this client makes: what it sends, and what it gets. */
export interface Methods {
  initialize: [
    OfRoot<{
      protocolVersions: readonly string[];
      clientId: string;
      clientInfo?: Implementation;
      initialSubscriptions?: readonly URI[];
      locale?: string;
    }>,
    InitializeResult,
  ];
  ping: [OfRoot, null];
  reconnect: [
    OfRoot<{ clientId: string; lastSeenServerSeq: number; subscriptions: readonly URI[] }>,
    ReconnectResult,
  ];
  subscribe: [
    Of<{ delivery?: { maxLatencyMs?: number }; view?: { turns?: number } }>,
    /** What has no state has no snapshot. */
    { snapshot?: Snapshot },
  ];
  listSessions: [
    OfRoot<{ limit?: number; cursor?: string; filter?: JsonObject }>,
    { items: readonly SessionSummary[]; nextCursor?: string; _meta?: Meta },
  ];
  createSession: [CreateSessionParams, null];
  disposeSession: [Of, null];
  createChat: [CreateChatParams, null];
  disposeChat: [Of, null];
  moveChat: [
    Of<{ destination: { kind: "session"; session: URI; after?: URI } | { kind: "newSession" } }>,
    { session: URI },
  ];
  /** Older turns come as `chat/turnsLoaded`, before the answer. */
  fetchTurns: [Of<{ cursor?: string }>, Nothing];
  createTerminal: [CreateTerminalParams, null];
  disposeTerminal: [Of, null];
  resourceRead: [
    OfRoot<{ uri: URI; encoding?: Encoding }>,
    { data: string; encoding: Encoding; contentType?: string },
  ];
  resourceWrite: [
    OfRoot<{ uri: URI; data: string; encoding: Encoding; contentType?: string; createOnly?: boolean }>,
    Nothing,
  ];
  resourceList: [OfRoot<{ uri: URI }>, { entries: readonly DirectoryEntry[] }];
  resourceMove: [OfRoot<{ source: URI; destination: URI; failIfExists?: boolean }>, Nothing];
  authenticate: [OfRoot<{ resource: string; token: string }>, Nothing];
  resolveSessionConfig: [OfRoot<ConfigQuestion>, { schema: SessionConfigSchema; values: JsonObject }];
  sessionConfigCompletions: [
    OfRoot<ConfigQuestion & { property: string; query?: string }>,
    { items: readonly { value: string; label: string; description?: string }[] },
  ];
  /** The channel is the chat. */
  completions: [
    Of<{ kind: "userMessage"; text: string; offset: number }>,
    { items: readonly CompletionItem[] },
  ];
}

export type Method = keyof Methods;
export type Params<M extends Method> = Methods[M][0];
export type Result<M extends Method> = Methods[M][1];

/** What a client tells without an answer. */
export interface Tellings {
  unsubscribe: { channel: URI };
  dispatchAction: { channel: URI; clientSeq: number; action: ClientAction };
}

/** What a host tells who watches the root, beside actions. Never repeated: ask for the list again after a break. */
export interface Notifications {
  "root/sessionAdded": { channel: URI; summary: SessionSummary };
  "root/sessionRemoved": { channel: URI; session: URI };
  /** Only what has changed. */
  "root/sessionSummaryChanged": { channel: URI; session: URI; changes: Partial<SessionSummary> };
}

/** One of these, with its name. */
export type Notification = {
  [Name in keyof Notifications]: { name: Name; params: Notifications[Name] };
}[keyof Notifications];

export const ErrorCode = {
  ParseError: -32700,
  InvalidRequest: -32600,
  MethodNotFound: -32601,
  InvalidParams: -32602,
  InternalError: -32603,
  SessionNotFound: -32001,
  ProviderNotFound: -32002,
  SessionAlreadyExists: -32003,
  TurnInProgress: -32004,
  UnsupportedProtocolVersion: -32005,
  /** `data` is `AuthRequiredData`. */
  AuthRequired: -32007,
  NotFound: -32008,
  /** `data` may be `{ request }`: what would open it. */
  PermissionDenied: -32009,
  AlreadyExists: -32010,
  Conflict: -32011,
} as const;

export interface AuthRequiredData {
  resources: readonly ProtectedResourceMetadata[];
}

/** A JSON-RPC message, as it comes: whatever of this is there. */
export interface RpcMessage {
  jsonrpc: "2.0";
  id?: number | string | null;
  method?: string;
  params?: unknown;
  result?: unknown;
  error?: { code: number; message: string; data?: unknown };
}
