/** Changesets: files that a session, or a turn, has changed. */

import type { ErrorInfo, Meta, StringOrMarkdown, URI } from "./common";
import type { FileEdit } from "./toolcall";

/** How much was changed. */
export interface ChangesSummary {
  additions?: number;
  deletions?: number;
  files?: number;
}

/** Changes that can be looked at: expanded, the template is the channel that has them. */
export interface Changeset {
  label: string;
  /** May hold `{turnId}`, or `{originalTurnId}` and `{modifiedTurnId}`. */
  uriTemplate: URI;
  description?: string;
  /** An open set: session, branch, uncommitted, turn, compare-turns, … */
  changeKind: string;
  capabilities?: { review?: object };
}

export interface ChangesetFile {
  id: string;
  edit: FileEdit;
  reviewed?: boolean;
  _meta?: Meta;
}

/** What can be done with changes. */
export interface ChangesetOperation {
  id: string;
  label: string;
  description?: string;
  scopes: readonly string[];
  confirmation?: StringOrMarkdown;
  icon?: string;
  group?: string;
  status: "idle" | "running" | "error" | "disabled";
  error?: ErrorInfo;
}

export interface ChangesetState {
  status: "computing" | "recomputing" | "ready" | "error";
  error?: ErrorInfo;
  files: readonly ChangesetFile[];
  operations?: readonly ChangesetOperation[];
}
