/** The changeset reducer. */

import type { Action, ActionOf, ChangesetState } from "../wire";
import { put, upsert, without } from "./records";

/** Apply one action; one that does not apply leaves the state as it was. */
export function reduceChangeset(state: ChangesetState, action: Action): ChangesetState {
  switch (action.type) {
    case "changeset/statusChanged":
      return put(state, errorOnlyWith(action));
    case "changeset/fileSet":
      return { ...state, files: upsert(state.files, action.file, ({ id }) => id === action.file.id) };
    case "changeset/fileRemoved":
      return withFiles(
        state,
        without(state.files, ({ id }) => id === action.fileId),
      );
    case "changeset/filesReviewChanged":
      return filesReviewChanged(state, action);
    case "changeset/contentChanged":
      return put(state, { files: action.files, operations: action.operations ?? state.operations });
    case "changeset/operationsChanged":
      return put(state, { operations: action.operations });
    case "changeset/operationStatusChanged":
      return operationStatusChanged(state, action);
    case "changeset/cleared":
      return { ...state, files: [] };
    default:
      return state;
  }
}

/** An error stays no longer than the status that it explains. */
function errorOnlyWith<Status extends string, E>({ status, error }: { status: Status; error?: E }) {
  return { status, error: status === "error" ? error : null };
}

function withFiles(state: ChangesetState, files: ChangesetState["files"]): ChangesetState {
  return files === state.files ? state : { ...state, files };
}

function filesReviewChanged(
  state: ChangesetState,
  { files, reviewed }: ActionOf<"changeset/filesReviewChanged">,
): ChangesetState {
  if (!state.files.some(({ id }) => files.includes(id))) return state;
  return withFiles(
    state,
    state.files.map((file) => (files.includes(file.id) ? { ...file, reviewed } : file)),
  );
}

function operationStatusChanged(
  state: ChangesetState,
  action: ActionOf<"changeset/operationStatusChanged">,
): ChangesetState {
  const old = state.operations?.find(({ id }) => id === action.operationId);
  if (!old) return state;
  const operation = put(old, errorOnlyWith(action));
  return { ...state, operations: upsert(state.operations, operation, (one) => one === old) };
}
