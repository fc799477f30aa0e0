/** Small values that many others hold, and agents with their models. */

import type { Customization } from "./customization";

export type JsonPrimitive = null | boolean | number | string;
/** Any JSON value. */
export type Json = JsonPrimitive | readonly Json[] | { readonly [key: string]: Json };
export type JsonObject = { readonly [key: string]: Json };

/** Any URI, compared as an exact string. */
export type URI = string;

/** Free-form data, passed on untouched. */
export type Meta = JsonObject;

/** Text for people: as it is, or Markdown. */
export type StringOrMarkdown = string | { markdown: string };

/** The channel of all that concerns the host as a whole, and the connection. */
export const ROOT = "ahp-root://";
export type Root = typeof ROOT;

export interface Icon {
  src: URI;
  contentType?: string;
  sizes?: readonly string[];
  theme?: "light" | "dark";
}

/** A resource that an agent needs a token for, in the words of RFC 9728. */
export interface ProtectedResourceMetadata {
  resource: string;
  resource_name?: string;
  authorization_servers?: readonly string[];
  scopes_supported?: readonly string[];
  resource_documentation?: string;
  /** Absent means true. */
  required?: boolean;
}

/** Content that is kept elsewhere: read it with `resourceRead`. */
export interface ContentRef {
  uri: URI;
  sizeHint?: number;
  contentType?: string;
  nonce?: string;
}

/** What a turn cost, in tokens. */
export interface UsageInfo {
  inputTokens?: number;
  outputTokens?: number;
  model?: string;
  cacheReadTokens?: number;
  _meta?: Meta;
}

export interface ErrorInfo {
  errorType: string;
  message: string;
  stack?: string;
  _meta?: Meta;
}

/** A place in a text: line and character, both from 0. */
export interface TextPosition {
  line: number;
  character: number;
}

export interface TextRange {
  start: TextPosition;
  end: TextPosition;
}

export interface TextSelection {
  range: TextRange;
}

// Settings as forms

export interface ConfigPropertySchema {
  type: "string" | "number" | "boolean" | "array" | "object";
  title: string;
  description?: string;
  default?: Json;
  enum?: readonly JsonPrimitive[];
  /** Parallel to `enum`, as are the descriptions. */
  enumLabels?: readonly string[];
  enumDescriptions?: readonly string[];
  readOnly?: boolean;
  items?: ConfigPropertySchema;
  properties?: Readonly<Record<string, ConfigPropertySchema>>;
  required?: readonly string[];
  additionalProperties?: ConfigPropertySchema;
  minItems?: number;
  maxItems?: number;
}

export interface SessionConfigPropertySchema extends ConfigPropertySchema {
  /** The values come from `sessionConfigCompletions`. */
  enumDynamic?: boolean;
  /** May change after the session was made. */
  sessionMutable?: boolean;
}

export interface ConfigSchema<Property = ConfigPropertySchema> {
  type: "object";
  properties: Readonly<Record<string, Property>>;
  required?: readonly string[];
}

export type SessionConfigSchema = ConfigSchema<SessionConfigPropertySchema>;

export interface ConfigState<Property = ConfigPropertySchema> {
  schema: ConfigSchema<Property>;
  values: JsonObject;
}

// Agents

export interface SessionModelInfo {
  id: string;
  provider: string;
  name: string;
  maxContextWindow?: number;
  maxOutputTokens?: number;
  maxPromptTokens?: number;
  supportsVision?: boolean;
  policyState?: "enabled" | "disabled" | "unconfigured";
  configSchema?: ConfigSchema;
  _meta?: Meta;
}

export interface ModelSelection {
  id: string;
  config?: Readonly<Record<string, JsonPrimitive>>;
}

export interface AgentInfo {
  provider: string;
  displayName: string;
  description: string;
  models: readonly SessionModelInfo[];
  protectedResources?: readonly ProtectedResourceMetadata[];
  customizations?: readonly Customization[];
  capabilities?: {
    /** Its sessions may have more than one chat, made anew, or from a turn of another. */
    multipleChats?: { fork?: boolean; sideChat?: boolean };
    multipleWorkingDirectories?: { immutablePrimary?: boolean; primaryReplacement?: boolean };
  };
}
