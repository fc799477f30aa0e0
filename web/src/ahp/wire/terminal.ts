/** Terminals: their state, what is in it, who holds them; and the root, which lists them. */

import type { AgentInfo, ConfigState, Meta, URI } from "./common";

export interface TerminalClientClaim {
  kind: "client";
  clientId: string;
}

/** A chat of a session has the terminal, perhaps for one tool call. */
export interface TerminalSessionClaim {
  kind: "session";
  session: URI;
  chat: URI;
  turnId?: string;
  toolCallId?: string;
}

export type TerminalClaim = TerminalClientClaim | TerminalSessionClaim;

/** Output that belongs to no known command. */
export interface TerminalUnclassifiedPart {
  type: "unclassified";
  value: string;
}

export interface TerminalCommandPart {
  type: "command";
  commandId: string;
  commandLine: string;
  output: string;
  timestamp: number;
  isComplete: boolean;
  exitCode?: number;
  durationMs?: number;
}

/** Whether the process runs; of one that has ended, how, if that is known. */
export type TerminalLifecycle = { status: "running" } | { status: "exited"; exitCode?: number };

export type TerminalContentPart = TerminalUnclassifiedPart | TerminalCommandPart;

/** A terminal whole. Its raw output is what the parts hold, one after the other. */
export interface TerminalState {
  title: string;
  cwd?: URI;
  cols?: number;
  rows?: number;
  content: readonly TerminalContentPart[];
  lifecycle: TerminalLifecycle;
  claim: TerminalClaim;
  /** Only then command parts mean anything. */
  supportsCommandDetection?: boolean;
  isPty?: boolean;
}

export interface TerminalInfo {
  resource: URI;
  title: string;
  claim: TerminalClaim;
  lifecycle: TerminalLifecycle;
}

/** What every client sees of a host: its agents, terminals and settings. */
export interface RootState {
  agents: readonly AgentInfo[];
  activeSessions?: number;
  terminals?: readonly TerminalInfo[];
  config?: ConfigState;
  _meta?: Meta;
}
