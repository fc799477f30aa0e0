/** Chats: what is said in a session. A session has one from the start, and may have more. */

import type { ContentRef, ErrorInfo, Meta, StringOrMarkdown, URI, UsageInfo } from "./common";
import type { Changeset, ChangesSummary } from "./changeset";
import type { ChatInputRequest, ChatInputResponse } from "./input";
import type { Message, PendingMessage } from "./message";
import type { ToolCallState } from "./toolcall";

/** How a chat came to be. A newer host may send kinds that are not listed here. */
export type ChatOrigin =
  | { kind: "user" }
  | { kind: "fork"; chat: URI; turnId: string }
  | { kind: "sideChat"; chat: URI; turnId: string; selection?: { text: string; responsePartId?: string } }
  /** A tool call made it: it is a subagent's. */
  | { kind: "tool"; chat: URI; toolCallId: string };

/** A chat as its session lists it. */
export interface ChatSummary {
  resource: URI;
  title: string;
  status: number;
  activity?: string;
  /** ISO 8601, as are all times of sessions and chats. */
  modifiedAt: string;
  origin?: ChatOrigin;
  /** Absent means full. */
  interactivity?: "full" | "read-only" | "hidden";
  workingDirectories?: readonly URI[];
  changes?: ChangesSummary;
  /** It may go to another session. */
  movable?: boolean;
}

/** What goes on in a chat beside its turns. */
export type BackgroundWork = { id: string; label: string; startedAt: string; _meta?: Meta } & (
  { kind: "shell"; command: string; terminal?: URI } | { kind: "subagent"; chat: URI }
);

/** A chat whole: what its subscribers see. Lists that would be empty are absent, but for `turns`. */
export interface ChatState extends ChatSummary {
  turns: readonly Turn[];
  /** There are older turns: `fetchTurns` brings them. */
  turnsNextCursor?: string;
  activeTurn?: ActiveTurn;
  /** One slot: what is said into the running turn. */
  steeringMessage?: PendingMessage;
  queuedMessages?: readonly PendingMessage[];
  draft?: Message;
  changesets?: readonly Changeset[];
  backgroundWork?: readonly BackgroundWork[];
  canvases?: readonly object[];
  _meta?: Meta;
}

// Turns

export interface ActiveTurn {
  id: string;
  startedAt: string;
  message: Message;
  responseParts: readonly ResponsePart[];
  usage?: UsageInfo;
}

/** A turn that has ended. */
export interface Turn extends Omit<ActiveTurn, "startedAt"> {
  startedAt?: string;
  /** In milliseconds. */
  duration?: number;
  state: "complete" | "cancelled" | "error";
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
  _meta?: Meta;
}

/** Questions of the agent. Without a response they are open, for as long as the turn runs. */
export interface InputRequestResponsePart {
  kind: "inputRequest";
  request: ChatInputRequest;
  response?: ChatInputResponse;
}

/** Why a turn failed: its last part. */
export interface ErrorResponsePart {
  kind: "error";
  error: ErrorInfo;
  /** The turn can go on from here. */
  resumable?: boolean;
}

/** A part of an answer. A newer host may send kinds that are not listed here. */
export type ResponsePart =
  | MarkdownResponsePart
  | ReasoningResponsePart
  | ResourceResponsePart
  | ToolCallResponsePart
  | SystemNotificationResponsePart
  | InputRequestResponsePart
  | ErrorResponsePart;
