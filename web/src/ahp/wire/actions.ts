/** Actions: all that can happen to a state. Those that a client may dispatch are `ClientAction`.
 *
 * An action does not say what it is about: the channel that it comes over does.
 */

import type { AgentInfo, ErrorInfo, JsonObject, Meta, StringOrMarkdown, URI, UsageInfo } from "./common";
import type { Changeset, ChangesetFile, ChangesetOperation, ChangesetState } from "./changeset";
import type { BackgroundWork, ChatSummary, ErrorResponsePart, ResponsePart, Turn } from "./chat";
import type {
  Customization,
  CustomizationEnablement,
  McpAuthRequirement,
  McpServerState,
} from "./customization";
import type { ChatInputAnswer, ChatInputRequest, ChatInputResponse } from "./input";
import type { Message } from "./message";
import type { SessionActiveClient, SessionInputRequest } from "./session";
import type { TerminalClaim, TerminalInfo } from "./terminal";
import type {
  ConfirmationOption,
  ConfirmationReason,
  FileEdit,
  ToolCallContributor,
  ToolCallResult,
  ToolCallRiskAssessment,
  ToolDefinition,
  ToolInput,
  ToolResultContent,
} from "./toolcall";

/** One for each of the types, if there are several. */
type An<Type extends string, Fields = unknown> = Type extends string ? { type: Type } & Fields : never;
type OfTurn<Type extends string, Fields = unknown> = An<Type, { turnId: string; _meta?: Meta } & Fields>;
type OfCall<Type extends string, Fields = unknown> = OfTurn<Type, { toolCallId: string } & Fields>;

type PendingKind = "steering" | "queued";

// The root

export type RootClientAction = An<"root/configChanged", { config: JsonObject; replace?: boolean }>;

export type RootAction =
  | RootClientAction
  | An<"root/agentsChanged", { agents: readonly AgentInfo[] }>
  | An<"root/activeSessionsChanged", { activeSessions: number }>
  | An<"root/terminalsChanged", { terminals: readonly TerminalInfo[] }>;

// Sessions

/** What a client may dispatch to a session. */
export type SessionClientAction =
  | An<"session/titleChanged", { title: string }>
  | An<"session/isReadChanged", { isRead: boolean }>
  | An<"session/isArchivedChanged", { isArchived: boolean }>
  | An<"session/configChanged", { config: JsonObject; replace?: boolean }>
  | An<"session/activeClientSet", { activeClient: SessionActiveClient }>
  | An<"session/activeClientRemoved", { clientId: string }>
  | An<"session/workingDirectorySet" | "session/workingDirectoryRemoved", { directory: URI }>
  | An<"session/workingDirectoryReplaced", { directory: URI; replacement: URI }>
  | An<"session/customizationToggled", { id: string; enablement: readonly CustomizationEnablement[] }>
  | An<
      | "session/mcpServerStartRequested"
      | "session/mcpServerStopRequested"
      | "session/mcpServerBackgroundRequested",
      { id: string }
    >;

/** What only the host says of a session. */
export type SessionHostAction =
  | An<"session/ready">
  | An<"session/creationFailed", { error: ErrorInfo }>
  | An<"session/chatAdded", { summary: ChatSummary }>
  | An<"session/chatRemoved", { chat: URI }>
  | An<"session/chatUpdated", { chat: URI; changes: Partial<ChatSummary> }>
  | An<"session/chatsReordered", { chats: readonly URI[] }>
  | An<"session/defaultChatChanged", { defaultChat?: URI }>
  | An<"session/activityChanged", { activity?: string }>
  | An<"session/changesetsChanged", { changesets?: readonly Changeset[] }>
  | An<"session/metaChanged", { _meta?: Meta }>
  | An<"session/serverToolsChanged", { tools: readonly ToolDefinition[] }>
  | An<"session/inputNeededSet", { request: SessionInputRequest }>
  | An<"session/inputNeededRemoved", { id: string }>
  | An<"session/customizationsChanged", { customizations: readonly Customization[] }>
  | An<"session/customizationUpdated", { customization: Customization }>
  | An<"session/customizationRemoved", { id: string }>
  | An<"session/mcpServerStateChanged", { id: string; state: McpServerState; channel?: URI }>;

export type SessionAction = SessionClientAction | SessionHostAction;

// Chats

interface Approved {
  approved: true;
  confirmed: ConfirmationReason;
  editedToolInput?: string;
  selectedOptionId?: string;
}

interface Denied {
  approved: false;
  reason: "denied" | "skipped";
  userSuggestion?: Message;
  reasonMessage?: StringOrMarkdown;
  selectedOptionId?: string;
}

/** What a client may dispatch to a chat. */
export type ChatClientAction =
  | OfTurn<"chat/turnStarted", { startedAt: string; message: Message; queuedMessageId?: string }>
  /** Durations are milliseconds, by the clock of the sender. */
  | OfTurn<"chat/turnCancelled", { duration: number }>
  /** Let the last turn, which failed, go on. */
  | OfTurn<"chat/turnResume">
  | OfCall<"chat/toolCallConfirmed", Approved | Denied>
  | OfCall<"chat/toolCallComplete", { result: ToolCallResult; requiresResultConfirmation?: boolean }>
  | OfCall<"chat/toolCallResultConfirmed", { approved: boolean }>
  | OfCall<"chat/toolCallContentChanged", { content: readonly ToolResultContent[] }>
  | An<
      "chat/inputAnswerChanged",
      /** No answer takes the old one back. */
      { requestId: string; questionId: string; answer?: ChatInputAnswer }
    >
  | An<
      "chat/inputCompleted",
      {
        requestId: string;
        response: ChatInputResponse;
        answers?: Readonly<Record<string, ChatInputAnswer>>;
      }
    >
  | An<"chat/pendingMessageSet", { kind: PendingKind; id: string; message: Message }>
  | An<"chat/pendingMessageRemoved", { kind: PendingKind; id: string }>
  | An<"chat/queuedMessagesReordered", { order: readonly string[] }>
  | An<"chat/draftChanged", { draft?: Message }>
  /** Without a turn, all turns go. */
  | An<"chat/truncated", { turnId?: string }>
  | An<"chat/isReadChanged", { isRead: boolean }>
  | An<"chat/isArchivedChanged", { isArchived: boolean }>
  | An<"chat/workingDirectorySet" | "chat/workingDirectoryRemoved", { directory: URI }>;

/** What only the host says of a chat. */
export type ChatHostAction =
  | OfTurn<"chat/responsePart", { part: ResponsePart }>
  | OfTurn<"chat/delta" | "chat/reasoning", { partId: string; content: string }>
  | OfTurn<"chat/turnComplete", { duration: number }>
  | OfTurn<"chat/error", { duration: number; part: ErrorResponsePart }>
  | OfTurn<"chat/usage", { usage: UsageInfo }>
  | An<"chat/turnsLoaded", { turns: readonly Turn[]; turnsNextCursor?: string }>
  | An<"chat/activityChanged", { activity?: string }>
  | OfCall<
      "chat/toolCallStart",
      { toolName: string; displayName: string; intention?: string; contributor?: ToolCallContributor }
    >
  | OfCall<"chat/toolCallDelta", { content?: string; invocationMessage?: StringOrMarkdown }>
  | OfCall<
      "chat/toolCallReady",
      {
        contributor?: ToolCallContributor;
        intention?: string;
        invocationMessage: StringOrMarkdown;
        toolInput?: ToolInput;
        confirmationTitle?: StringOrMarkdown;
        riskAssessment?: ToolCallRiskAssessment;
        edits?: { items: readonly FileEdit[] };
        editable?: boolean;
        /** Set: it needs no confirmation. */
        confirmed?: ConfirmationReason;
        options?: readonly ConfirmationOption[];
      }
    >
  | OfCall<"chat/toolCallAuthRequired", { auth: McpAuthRequirement }>
  | OfCall<"chat/toolCallAuthResolved">
  | An<"chat/inputRequested", { request: ChatInputRequest }>
  | An<"chat/movableChanged", { movable: boolean }>
  | An<"chat/changesetsChanged", { changesets?: readonly Changeset[] }>
  | An<"chat/canvasesChanged", { canvases?: readonly object[] }>
  | An<"chat/backgroundWorkSet", { work: BackgroundWork }>
  | An<"chat/backgroundWorkRemoved", { id: string }>;

export type ChatAction = ChatClientAction | ChatHostAction;

// Terminals

/** What a client may dispatch to a terminal. */
export type TerminalClientAction =
  | An<"terminal/input", { data: string }>
  | An<"terminal/resized", { cols: number; rows: number }>
  | An<"terminal/claimed", { claim: TerminalClaim }>
  | An<"terminal/titleChanged", { title: string }>
  | An<"terminal/cleared">;

export type TerminalHostAction =
  | An<"terminal/data", { data: string }>
  | An<"terminal/cwdChanged", { cwd: URI }>
  | An<"terminal/exited", { exitCode?: number }>
  | An<"terminal/commandDetectionAvailable">
  | An<"terminal/commandExecuted", { commandId: string; commandLine: string; timestamp: number }>
  | An<"terminal/commandFinished", { commandId: string; exitCode?: number; durationMs?: number }>;

export type TerminalAction = TerminalClientAction | TerminalHostAction;

// Changesets

export type ChangesetClientAction = An<
  "changeset/filesReviewChanged",
  { files: readonly string[]; reviewed: boolean }
>;

export type ChangesetAction =
  | ChangesetClientAction
  | An<"changeset/statusChanged", { status: ChangesetState["status"]; error?: ErrorInfo }>
  | An<"changeset/fileSet", { file: ChangesetFile }>
  | An<"changeset/fileRemoved", { fileId: string }>
  | An<
      "changeset/contentChanged",
      { files: readonly ChangesetFile[]; operations?: readonly ChangesetOperation[] }
    >
  | An<"changeset/operationsChanged", { operations?: readonly ChangesetOperation[] }>
  | An<
      "changeset/operationStatusChanged",
      { operationId: string; status: ChangesetOperation["status"]; error?: ErrorInfo }
    >
  | An<"changeset/cleared">;

export type ClientAction =
  RootClientAction | SessionClientAction | ChatClientAction | TerminalClientAction | ChangesetClientAction;
export type Action = RootAction | SessionAction | ChatAction | TerminalAction | ChangesetAction;

/** The action of a type. */
export type ActionOf<Type extends Action["type"]> = Extract<Action, { type: Type }>;

/** What the host says happened, and to what. */
export interface ActionEnvelope {
  channel: URI;
  action: Action;
  serverSeq: number;
  /** Absent: the host itself. */
  origin?: { clientId: string; clientSeq: number } | null;
  /** Present: it did not happen. */
  rejectionReason?: string | null;
}
