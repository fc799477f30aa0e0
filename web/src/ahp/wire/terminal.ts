/** Terminals: their state, what is in it, who holds them; and the root, which lists them. */

import type { AgentInfo, ConfigState, URI } from "./common";

export interface TerminalClientClaim {
  kind: "client";
  clientId: string;
}

/** A session has the terminal, perhaps for one tool call. */
export interface TerminalSessionClaim {
  kind: "session";
  session: URI;
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

export type TerminalContentPart = TerminalUnclassifiedPart | TerminalCommandPart;

/** A terminal whole. Its raw output is what the parts hold, one after the other. */
export interface TerminalState {
  title: string;
  cwd?: URI;
  cols?: number;
  rows?: number;
  content: readonly TerminalContentPart[];
  /** There once the process has ended, if it is known. */
  exitCode?: number;
  claim: TerminalClaim;
  /** Only then command parts mean anything. */
  supportsCommandDetection?: boolean;
}

export interface TerminalInfo {
  resource: URI;
  title: string;
  claim: TerminalClaim;
  exitCode?: number;
}

/** What every client sees of a host: its agents, terminals and settings. */
export interface RootState {
  agents: readonly AgentInfo[];
  activeSessions?: number;
  terminals?: readonly TerminalInfo[];
  config?: ConfigState;
}
