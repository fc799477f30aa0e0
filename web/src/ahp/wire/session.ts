/** Sessions: the whole state, and the summary in the list. */

import type { Changeset, ChangesSummary } from "./changeset";
import type { ChatOrigin, ChatSummary } from "./chat";
import type { ConfigState, ErrorInfo, Meta, SessionConfigPropertySchema, URI } from "./common";
import type { Customization, PluginCustomization } from "./customization";
import type { ChatInputRequest } from "./input";
import type { ToolCallState, ToolDefinition } from "./toolcall";

/** The bits of a status. Test what a session or chat does by bits: running is `status & InProgress`. */
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

interface SessionMetadata {
  provider: string;
  title: string;
  status: number;
  activity?: string;
  project?: ProjectInfo;
  workingDirectories?: readonly URI[];
  origin?: object;
  _meta?: Meta;
}

/** A chat as the list of sessions knows it. */
export interface SessionChatSummary {
  resource: URI;
  title: string;
  origin?: ChatOrigin;
  interactivity?: "full" | "read-only" | "hidden";
  status?: number;
  changes?: ChangesSummary;
}

/** A session as the list shows it. Its status is that of all its chats together. */
export interface SessionSummary extends SessionMetadata {
  resource: URI;
  /** ISO 8601, as are all times of sessions. */
  createdAt: string;
  modifiedAt: string;
  changes?: ChangesSummary;
  chats?: readonly SessionChatSummary[];
  defaultChat?: URI;
}

/** A client whose tools and customizations a session uses. */
export interface SessionActiveClient {
  clientId: string;
  displayName?: string;
  tools: readonly ToolDefinition[];
  customizations?: readonly PluginCustomization[];
}

/** Something that waits in one of the chats: for a person, or for a client's tool. */
export type SessionInputRequest = { id: string; chat: URI } & (
  | { kind: "chatInput"; request: ChatInputRequest }
  | {
      kind: "toolConfirmation" | "toolClientExecution" | "toolAuthentication";
      turnId: string;
      toolCall: ToolCallState;
      clientId?: string;
    }
);

/** A session whole: what its subscribers see. What is said in it is in its chats. */
export interface SessionState extends SessionMetadata {
  lifecycle: "creating" | "ready" | "failed";
  creationError?: ErrorInfo;
  serverTools?: readonly ToolDefinition[];
  activeClients: readonly SessionActiveClient[];
  chats: readonly ChatSummary[];
  defaultChat?: URI;
  config?: ConfigState<SessionConfigPropertySchema>;
  customizations?: readonly Customization[];
  changesets?: readonly Changeset[];
  inputNeeded?: readonly SessionInputRequest[];
}
