/** Actions: all that can happen to a state. Those that a client may dispatch are `ClientAction`. */

import type {
  AgentInfo,
  CustomizationRef,
  ErrorInfo,
  JsonObject,
  Meta,
  ModelSelection,
  SessionCustomization,
  StringOrMarkdown,
  URI,
  UsageInfo,
} from "./common";
import type { SessionInputAnswer, SessionInputRequest } from "./input";
import type { ResponsePart, SessionActiveClient, UserMessage } from "./session";
import type { TerminalClaim, TerminalInfo } from "./terminal";
import type {
  ConfirmationOption,
  ConfirmationReason,
  FileEdit,
  ToolCallResult,
  ToolDefinition,
  ToolResultContent,
} from "./toolcall";

type OfSession<Type extends string, Fields = unknown> = { type: Type; session: URI } & Fields;
type OfTurn<Type extends string, Fields = unknown> = OfSession<Type, { turnId: string } & Fields>;
type OfCall<Type extends string, Fields = unknown> = OfTurn<
  Type,
  { toolCallId: string; _meta?: Meta } & Fields
>;
type OfTerminal<Type extends string, Fields = unknown> = { type: Type; terminal: URI } & Fields;

type PendingKind = "steering" | "queued";

/** What a client may dispatch to a session. */
export type SessionClientAction =
  | OfTurn<"session/turnStarted", { userMessage: UserMessage; queuedMessageId?: string }>
  | OfTurn<"session/turnCancelled">
  | OfCall<"session/toolCallConfirmed", Approved | Denied>
  | OfCall<"session/toolCallComplete", { result: ToolCallResult; requiresResultConfirmation?: boolean }>
  | OfCall<"session/toolCallResultConfirmed", { approved: boolean }>
  | OfCall<"session/toolCallContentChanged", { content: readonly ToolResultContent[] }>
  | OfSession<"session/titleChanged", { title: string }>
  | OfSession<"session/modelChanged", { model: ModelSelection }>
  | OfSession<"session/activeClientChanged", { activeClient: SessionActiveClient | null }>
  | OfSession<"session/activeClientToolsChanged", { tools: readonly ToolDefinition[] }>
  | OfSession<"session/pendingMessageSet", { kind: PendingKind; id: string; userMessage: UserMessage }>
  | OfSession<"session/pendingMessageRemoved", { kind: PendingKind; id: string }>
  | OfSession<"session/queuedMessagesReordered", { order: readonly string[] }>
  | OfSession<
      "session/inputAnswerChanged",
      /** No answer takes the old one back. */
      { requestId: string; questionId: string; answer?: SessionInputAnswer }
    >
  | OfSession<
      "session/inputCompleted",
      {
        requestId: string;
        response: "accept" | "decline" | "cancel";
        answers?: Readonly<Record<string, SessionInputAnswer>>;
      }
    >
  | OfSession<"session/customizationToggled", { uri: URI; enabled: boolean }>
  /** Without a turn, all turns go. */
  | OfSession<"session/truncated", { turnId?: string }>
  | OfSession<"session/isReadChanged", { isRead: boolean }>
  | OfSession<"session/isArchivedChanged", { isArchived: boolean }>
  | OfSession<"session/configChanged", { config: JsonObject; replace?: boolean }>;

interface Approved {
  approved: true;
  confirmed: ConfirmationReason;
  editedToolInput?: string;
  selectedOptionId?: string;
}

interface Denied {
  approved: false;
  reason: "denied" | "skipped";
  userSuggestion?: UserMessage;
  reasonMessage?: StringOrMarkdown;
  selectedOptionId?: string;
}

/** What only the host says of a session. */
export type SessionHostAction =
  | OfSession<"session/ready">
  | OfSession<"session/creationFailed", { error: ErrorInfo }>
  | OfTurn<"session/delta", { partId: string; content: string }>
  | OfTurn<"session/reasoning", { partId: string; content: string }>
  | OfTurn<"session/responsePart", { part: ResponsePart }>
  | OfTurn<"session/turnComplete">
  | OfTurn<"session/error", { error: ErrorInfo }>
  | OfTurn<"session/usage", { usage: UsageInfo }>
  | OfCall<"session/toolCallStart", { toolName: string; displayName: string; toolClientId?: string }>
  | OfCall<"session/toolCallDelta", { content: string; invocationMessage?: StringOrMarkdown }>
  | OfCall<
      "session/toolCallReady",
      {
        invocationMessage: StringOrMarkdown;
        toolInput?: string;
        confirmationTitle?: StringOrMarkdown;
        edits?: { items: readonly FileEdit[] };
        editable?: boolean;
        /** Set: it needs no confirmation. */
        confirmed?: ConfirmationReason;
        options?: readonly ConfirmationOption[];
      }
    >
  | OfSession<"session/serverToolsChanged", { tools: readonly ToolDefinition[] }>
  | OfSession<"session/inputRequested", { request: SessionInputRequest }>
  | OfSession<"session/customizationsChanged", { customizations: readonly SessionCustomization[] }>
  | OfSession<
      "session/customizationUpdated",
      {
        customization: CustomizationRef;
        enabled?: boolean;
        status?: NonNullable<SessionCustomization["status"]>;
        statusMessage?: string;
      }
    >
  | OfSession<"session/activityChanged", { activity?: string | null }>
  | OfSession<"session/diffsChanged", { diffs: readonly FileEdit[] }>
  | OfSession<"session/metaChanged", { _meta?: Meta }>;

export type SessionAction = SessionClientAction | SessionHostAction;

/** What a client may dispatch to a terminal. */
export type TerminalClientAction =
  | OfTerminal<"terminal/input", { data: string }>
  | OfTerminal<"terminal/resized", { cols: number; rows: number }>
  | OfTerminal<"terminal/claimed", { claim: TerminalClaim }>
  | OfTerminal<"terminal/titleChanged", { title: string }>
  | OfTerminal<"terminal/cleared">;

export type TerminalHostAction =
  | OfTerminal<"terminal/data", { data: string }>
  | OfTerminal<"terminal/cwdChanged", { cwd: URI }>
  | OfTerminal<"terminal/exited", { exitCode?: number }>
  | OfTerminal<"terminal/commandDetectionAvailable">
  | OfTerminal<"terminal/commandExecuted", { commandId: string; commandLine: string; timestamp: number }>
  | OfTerminal<"terminal/commandFinished", { commandId: string; exitCode?: number; durationMs?: number }>;

export type TerminalAction = TerminalClientAction | TerminalHostAction;

export type RootClientAction = { type: "root/configChanged"; config: JsonObject; replace?: boolean };

export type RootAction =
  | RootClientAction
  | { type: "root/agentsChanged"; agents: readonly AgentInfo[] }
  | { type: "root/activeSessionsChanged"; activeSessions: number }
  | { type: "root/terminalsChanged"; terminals: readonly TerminalInfo[] };

export type ClientAction = SessionClientAction | TerminalClientAction | RootClientAction;
export type Action = SessionAction | TerminalAction | RootAction;

/** What the host says happened. */
export interface ActionEnvelope {
  action: Action;
  serverSeq: number;
  /** Absent: the host itself. */
  origin?: { clientId: string; clientSeq: number } | null;
  /** Present: it did not happen. */
  rejectionReason?: string | null;
}
