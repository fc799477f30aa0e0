/** Sessions: the whole state, the summary in the list, turns and the parts of an answer. */

import type {
  ConfigState,
  ContentRef,
  CustomizationRef,
  ErrorInfo,
  Meta,
  ModelSelection,
  SessionConfigPropertySchema,
  SessionCustomization,
  StringOrMarkdown,
  TextRange,
  TextSelection,
  URI,
  UsageInfo,
} from "./common";
import type { SessionInputRequest } from "./input";
import type { FileEdit, ToolCallState, ToolDefinition } from "./toolcall";

/** The bits of `SessionSummary.status`. Test what a session does by bits: running is `status & InProgress`. */
export const Status = {
  Idle: 1,
  Error: 2,
  InProgress: 8,
  /** Contains `InProgress`. */
  InputNeeded: 24,
  /** What it does: one of those above. */
  Activity: 31,
  IsRead: 32,
  IsArchived: 64,
} as const;

export interface ProjectInfo {
  uri: URI;
  displayName: string;
}

/** A session as the list shows it. Times are Unix milliseconds. */
export interface SessionSummary {
  resource: URI;
  provider: string;
  title: string;
  status: number;
  activity?: string;
  createdAt: number;
  modifiedAt: number;
  project?: ProjectInfo;
  model?: ModelSelection;
  workingDirectory?: URI;
  diffs?: readonly FileEdit[];
}

/** The client whose tools and customizations a session uses. */
export interface SessionActiveClient {
  clientId: string;
  displayName?: string;
  tools: readonly ToolDefinition[];
  customizations?: readonly CustomizationRef[];
}

/** A session whole: what its subscribers see. Lists that would be empty are absent. */
export interface SessionState {
  summary: SessionSummary;
  lifecycle: "creating" | "ready" | "creationFailed";
  creationError?: ErrorInfo;
  serverTools?: readonly ToolDefinition[];
  activeClient?: SessionActiveClient;
  turns: readonly Turn[];
  activeTurn?: ActiveTurn;
  /** One slot: what is said into the running turn. */
  steeringMessage?: PendingMessage;
  queuedMessages?: readonly PendingMessage[];
  inputRequests?: readonly SessionInputRequest[];
  config?: ConfigState<SessionConfigPropertySchema>;
  customizations?: readonly SessionCustomization[];
  _meta?: Meta;
}

// Turns

export interface ActiveTurn {
  id: string;
  userMessage: UserMessage;
  responseParts: readonly ResponsePart[];
  usage?: UsageInfo;
}

/** A turn that has ended. */
export interface Turn extends ActiveTurn {
  state: "complete" | "cancelled" | "error";
  error?: ErrorInfo;
}

export interface MarkdownResponsePart {
  kind: "markdown";
  id: string;
  content: string;
}

/** The model's thinking. */
export interface ReasoningResponsePart {
  kind: "reasoning";
  id: string;
  content: string;
}

/** Large content of the answer, by reference. */
export interface ResourceResponsePart extends ContentRef {
  kind: "contentRef";
}

export interface ToolCallResponsePart {
  kind: "toolCall";
  toolCall: ToolCallState;
}

/** A word from the host to both agent and user. */
export interface SystemNotificationResponsePart {
  kind: "systemNotification";
  content: StringOrMarkdown;
}

/** A part of an answer. A newer host may send kinds that are not listed here. */
export type ResponsePart =
  | MarkdownResponsePart
  | ReasoningResponsePart
  | ResourceResponsePart
  | ToolCallResponsePart
  | SystemNotificationResponsePart;

// Messages

export interface UserMessage {
  text: string;
  attachments?: readonly MessageAttachment[];
}

/** A message that waits: for its turn in the queue, or to steer the running turn. */
export interface PendingMessage {
  id: string;
  userMessage: UserMessage;
}

interface AttachmentBase {
  label: string;
  /** The span in the text of the message. */
  range?: TextRange;
  /** An open set: image, document, symbol, directory, selection, … */
  displayKind?: string;
  /** From `completions`: send it back untouched. */
  _meta?: Meta;
}

export interface SimpleMessageAttachment extends AttachmentBase {
  type: "simple";
  modelRepresentation?: string;
}

export interface MessageEmbeddedResourceAttachment extends AttachmentBase {
  type: "embeddedResource";
  /** In base64. */
  data: string;
  contentType: string;
  selection?: TextSelection;
}

export interface MessageResourceAttachment extends AttachmentBase, ContentRef {
  type: "resource";
  selection?: TextSelection;
}

export type MessageAttachment =
  SimpleMessageAttachment | MessageEmbeddedResourceAttachment | MessageResourceAttachment;
