/** What goes over a connection: the commands with their params and results, notifications, errors. */

import type {
  JsonObject,
  Meta,
  ModelSelection,
  ProtectedResourceMetadata,
  SessionConfigSchema,
  URI,
} from "./common";
import type { MessageAttachment, SessionActiveClient, SessionState, SessionSummary, Turn } from "./session";
import type { RootState, TerminalClaim, TerminalState } from "./terminal";
import type { ActionEnvelope, ClientAction } from "./actions";

export const VERSION = "0.1.0";

export type State = RootState | SessionState | TerminalState;

export interface Snapshot<S = State> {
  resource: URI;
  state: S;
  /** Everything up to this number is in the state. */
  fromSeq: number;
}

export interface InitializeResult {
  protocolVersion: string;
  serverSeq: number;
  snapshots: readonly Snapshot[];
  /** Where to begin to look for files. */
  defaultDirectory?: URI;
  /** After typing one of these, ask for `completions`. */
  completionTriggerCharacters?: readonly string[];
}

export type ReconnectResult =
  | { type: "replay"; actions: readonly ActionEnvelope[]; missing: readonly URI[] }
  | { type: "snapshot"; snapshots: readonly Snapshot[] };

export type Encoding = "base64" | "utf-8";

export interface CreateSessionParams {
  session: URI;
  provider?: string;
  model?: ModelSelection;
  workingDirectory?: URI;
  fork?: { session: URI; turnId: string };
  config?: JsonObject;
  activeClient?: SessionActiveClient;
}

export interface CreateTerminalParams {
  terminal: URI;
  claim: TerminalClaim;
  name?: string;
  cwd?: URI;
  cols?: number;
  rows?: number;
}

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

export interface ResourceRequestParams {
  uri: URI;
  /** Neither of the two means to read. */
  read?: boolean;
  write?: boolean;
}

interface ConfigQuestion {
  provider?: string;
  workingDirectory?: URI;
  config?: JsonObject;
}

type Nothing = Record<string, never>;

/** Every request that a client can make: what it sends, and what it gets. */
export interface Methods {
  initialize: [
    {
      protocolVersions: readonly string[];
      clientId: string;
      initialSubscriptions?: readonly URI[];
      locale?: string;
    },
    InitializeResult,
  ];
  ping: [Nothing, null];
  reconnect: [
    { clientId: string; lastSeenServerSeq: number; subscriptions: readonly URI[] },
    ReconnectResult,
  ];
  subscribe: [{ resource: URI }, { snapshot: Snapshot }];
  createSession: [CreateSessionParams, null];
  disposeSession: [{ session: URI }, null];
  createTerminal: [CreateTerminalParams, null];
  disposeTerminal: [{ terminal: URI }, null];
  listSessions: [{ filter?: JsonObject }, { items: readonly SessionSummary[]; _meta?: Meta }];
  fetchTurns: [
    { session: URI; before?: string; limit?: number },
    /** Oldest first. */
    { turns: readonly Turn[]; hasMore: boolean },
  ];
  resourceRead: [
    { uri: URI; encoding?: Encoding },
    { data: string; encoding: Encoding; contentType?: string },
  ];
  resourceWrite: [
    { uri: URI; data: string; encoding: Encoding; contentType?: string; createOnly?: boolean },
    Nothing,
  ];
  resourceList: [{ uri: URI }, { entries: readonly DirectoryEntry[] }];
  resourceCopy: [{ source: URI; destination: URI; failIfExists?: boolean }, Nothing];
  resourceMove: [{ source: URI; destination: URI; failIfExists?: boolean }, Nothing];
  resourceDelete: [{ uri: URI; recursive?: boolean }, Nothing];
  resourceRequest: [ResourceRequestParams, Nothing];
  authenticate: [{ resource: string; token: string }, Nothing];
  resolveSessionConfig: [ConfigQuestion, { schema: SessionConfigSchema; values: JsonObject }];
  sessionConfigCompletions: [
    ConfigQuestion & { property: string; query?: string },
    { items: readonly { value: string; label: string; description?: string }[] },
  ];
  completions: [
    { kind: "userMessage"; session: URI; text: string; offset: number },
    { items: readonly CompletionItem[] },
  ];
}

export type Method = keyof Methods;
export type Params<M extends Method> = Methods[M][0];
export type Result<M extends Method> = Methods[M][1];

/** What a client tells without an answer. */
export interface Tellings {
  unsubscribe: { resource: URI };
  dispatchAction: { clientSeq: number; action: ClientAction };
}

/** What a host tells everybody, beside actions. Never repeated: ask for the list again after a break. */
export type ProtocolNotification =
  | { type: "notify/sessionAdded"; summary: SessionSummary }
  | { type: "notify/sessionRemoved"; session: URI }
  | {
      type: "notify/sessionSummaryChanged";
      session: URI;
      /** Only what has changed; null takes a field away. */
      changes: { [Key in keyof SessionSummary]?: SessionSummary[Key] | null };
    }
  | { type: "notify/authRequired"; resource: string; reason?: "required" | "expired" };

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
  ContentNotFound: -32006,
  /** `data` is `AuthRequiredData`. */
  AuthRequired: -32007,
  NotFound: -32008,
  /** `data` may be `{ request: ResourceRequestParams }`: what would open it. */
  PermissionDenied: -32009,
  AlreadyExists: -32010,
} as const;

export interface AuthRequiredData {
  resources: readonly ProtectedResourceMetadata[];
}

/** A JSON-RPC message, as it comes: whatever of this is there. */
export interface Message {
  jsonrpc: "2.0";
  id?: number | string | null;
  method?: string;
  params?: unknown;
  result?: unknown;
  error?: { code: number; message: string; data?: unknown };
}
