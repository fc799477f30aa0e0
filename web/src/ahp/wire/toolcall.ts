/** Tools, tool calls in each of their states, and what results hold. */

import type { ContentRef, JsonObject, Meta, StringOrMarkdown, URI } from "./common";
import type { McpAuthRequirement } from "./customization";
import type { Message } from "./message";

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
  | {
      type: "terminal";
      resource: URI;
      title: string;
      isPty?: boolean;
      result?: { exitCode?: number; preview?: string; truncated?: boolean };
    }
  /** The resource is the chat in which the other agent works. */
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

/** Whose tool it is, if it is not the host's. */
export type ToolCallContributor =
  { kind: "client"; clientId: string } | { kind: "mcp"; customizationId: string };

/** How safe a call is thought to be: from 0 to 1. */
export type ToolCallRiskAssessment = { kind: string } & (
  { status: "loading" } | { status: "complete"; reason: StringOrMarkdown; safety: number }
);

/** What a tool is given: as text, mostly JSON, or kept elsewhere. */
export type ToolInput = string | ContentRef;

/** Who a call is: the same in all its states. */
interface Identity {
  toolCallId: string;
  toolName: string;
  displayName: string;
  /** What it is for, in the agent's words. */
  intention?: string;
  contributor?: ToolCallContributor;
  _meta?: Meta;
}

interface Parameters {
  invocationMessage: StringOrMarkdown;
  toolInput?: ToolInput;
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

/** The call waits for approval. */
export interface ToolCallPendingConfirmationState extends Identity, Parameters {
  status: "pending-confirmation";
  confirmationTitle?: StringOrMarkdown;
  riskAssessment?: ToolCallRiskAssessment;
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

/** A server wants a token before the call goes on. */
export interface ToolCallAuthRequiredState extends Identity, Parameters, Consent {
  status: "auth-required";
  auth: McpAuthRequirement;
  content?: readonly ToolResultContent[];
}

/** The tool is done; its result waits for approval. */
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
  userSuggestion?: Message;
  selectedOption?: ConfirmationOption;
}

export type ToolCallState =
  | ToolCallStreamingState
  | ToolCallPendingConfirmationState
  | ToolCallRunningState
  | ToolCallAuthRequiredState
  | ToolCallPendingResultConfirmationState
  | ToolCallCompletedState
  | ToolCallCancelledState;
