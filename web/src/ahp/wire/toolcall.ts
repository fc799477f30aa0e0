/** Tools, tool calls in each of their states, and what results hold. */

import type { ContentRef, JsonObject, Meta, StringOrMarkdown, URI } from "./common";
import type { UserMessage } from "./session";

/** The JSON Schema of a tool's input or output. */
export interface ObjectSchema {
  type: "object";
  properties?: Readonly<Record<string, JsonObject>>;
  required?: readonly string[];
}

/** Hints about what a tool does to the world. Not given: not read-only, destructive, not idempotent, open. */
export interface ToolAnnotations {
  title?: string;
  readOnlyHint?: boolean;
  destructiveHint?: boolean;
  idempotentHint?: boolean;
  openWorldHint?: boolean;
}

export interface ToolDefinition {
  name: string;
  title?: string;
  description?: string;
  inputSchema?: ObjectSchema;
  outputSchema?: ObjectSchema;
  annotations?: ToolAnnotations;
  _meta?: Meta;
}

export interface FileVersion {
  uri: URI;
  content: ContentRef;
}

/** A change of a file. Only `after`: made, or edited in place; only `before`: deleted; other URI: renamed. */
export interface FileEdit {
  before?: FileVersion;
  after?: FileVersion;
  diff?: { added?: number; removed?: number };
}

export type ToolResultContent =
  | { type: "text"; text: string }
  | { type: "embeddedResource"; data: string; contentType: string }
  | ({ type: "resource" } & ContentRef)
  | ({ type: "fileEdit" } & FileEdit)
  | { type: "terminal"; resource: URI; title: string }
  | { type: "subagent"; resource: URI; title: string; agentName?: string; description?: string };

/** A way to answer a confirmation. */
export interface ConfirmationOption {
  id: string;
  label: string;
  kind: "approve" | "deny";
  /** Those of one group belong together. */
  group?: number;
}

export type ConfirmationReason = "not-needed" | "user-action" | "setting";
export type CancellationReason = "denied" | "skipped" | "result-denied";

/** Who a call is: the same in all its states. */
interface Identity {
  toolCallId: string;
  toolName: string;
  displayName: string;
  /** Set for tools that a client brought. */
  toolClientId?: string;
  _meta?: Meta;
}

interface Parameters {
  invocationMessage: StringOrMarkdown;
  /** What the tool is given, as text: mostly JSON. */
  toolInput?: string;
}

interface Consent {
  confirmed: ConfirmationReason;
  selectedOption?: ConfirmationOption;
}

export interface ToolCallResult {
  success: boolean;
  pastTenseMessage: StringOrMarkdown;
  content?: readonly ToolResultContent[];
  structuredContent?: JsonObject;
  error?: { message: string; code?: string };
}

/** The model is still writing the input. */
export interface ToolCallStreamingState extends Identity {
  status: "streaming";
  partialInput?: string;
  invocationMessage?: StringOrMarkdown;
}

/** The call waits for somebody to allow it. */
export interface ToolCallPendingConfirmationState extends Identity, Parameters {
  status: "pending-confirmation";
  confirmationTitle?: StringOrMarkdown;
  edits?: { items: readonly FileEdit[] };
  /** Who allows it may change its input. */
  editable?: boolean;
  /** Shown, in order, instead of plain yes and no. */
  options?: readonly ConfirmationOption[];
}

export interface ToolCallRunningState extends Identity, Parameters, Consent {
  status: "running";
  /** Progress. */
  content?: readonly ToolResultContent[];
}

/** The tool is done; its result waits for somebody to allow it. */
export interface ToolCallPendingResultConfirmationState
  extends Identity, Parameters, Consent, ToolCallResult {
  status: "pending-result-confirmation";
}

/** The tool is done, well or not. */
export interface ToolCallCompletedState extends Identity, Parameters, Consent, ToolCallResult {
  status: "completed";
}

/** The call was denied, skipped, or its result withheld. */
export interface ToolCallCancelledState extends Identity, Parameters {
  status: "cancelled";
  reason: CancellationReason;
  reasonMessage?: StringOrMarkdown;
  userSuggestion?: UserMessage;
  selectedOption?: ConfirmationOption;
}

export type ToolCallState =
  | ToolCallStreamingState
  | ToolCallPendingConfirmationState
  | ToolCallRunningState
  | ToolCallPendingResultConfirmationState
  | ToolCallCompletedState
  | ToolCallCancelledState;
