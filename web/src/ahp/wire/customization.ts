/** Customizations: plug-ins, folders of skills and the like, and MCP servers, as a tree of two levels. */

import type { ErrorInfo, Icon, Meta, ProtectedResourceMetadata, TextRange, URI } from "./common";

interface CustomizationBase {
  id: string;
  uri: URI;
  name: string;
  icons?: readonly Icon[];
  range?: TextRange;
  _meta?: Meta;
}

/** Whether it is on, and for whom that was decided; the most specific decision comes first. */
export type CustomizationEnablement =
  | { kind: "global"; enabled: boolean }
  | { kind: "workspace"; uri: URI; enabled: boolean }
  | { kind: "session"; enabled: boolean };

export type CustomizationLoadState =
  { kind: "loading" } | { kind: "loaded" } | { kind: "degraded" | "error"; message: string };

interface ContainerBase extends CustomizationBase {
  /** Who brought it; absent: the host. */
  clientId?: string;
  load?: CustomizationLoadState;
  children?: readonly ChildCustomization[];
}

export interface PluginCustomization extends ContainerBase {
  type: "plugin";
  version?: string;
  enablement?: readonly CustomizationEnablement[];
}

export interface DirectoryCustomization extends ContainerBase {
  type: "directory";
  contents: string;
  writable: boolean;
  enabled: boolean;
}

/** What a tool or a server needs before it goes on. */
export interface McpAuthRequirement {
  reason: string;
  resource: ProtectedResourceMetadata;
  requiredScopes?: readonly string[];
  description?: string;
}

export type McpServerState =
  /** Blocking: the session waits for it. */
  | { kind: "starting"; blocking?: boolean }
  | { kind: "ready" }
  | ({ kind: "authRequired" } & McpAuthRequirement)
  | { kind: "error"; error: ErrorInfo }
  | { kind: "stopped" };

export interface McpServerCustomization extends CustomizationBase {
  type: "mcpServer";
  state: McpServerState;
  channel?: URI;
  enablement?: readonly CustomizationEnablement[];
}

/** An agent, a skill, a prompt, a rule or a hook. */
export interface LeafCustomization extends CustomizationBase {
  type: "agent" | "skill" | "prompt" | "rule" | "hook";
  enabled?: boolean;
  description?: string;
}

export type ChildCustomization = LeafCustomization | McpServerCustomization;
export type Customization = PluginCustomization | DirectoryCustomization | McpServerCustomization;
