/** Code shared by reducers: settings, flags, working directories. */

import type { URI } from "../wire";
import { without } from "./records";

/** The settings of a session, or of the root: merged into the old ones, or replacing them. */
export function configure<S extends { config?: { values: object } }>(
  state: S,
  action: { config: object; replace?: boolean },
): S {
  const { config } = state;
  if (!config) return state;
  const values = action.replace ? action.config : { ...config.values, ...action.config };
  return { ...state, config: { ...config, values } };
}

/** Set or clear a bit of a status. */
export function flag<S extends { status: number }>(state: S, bit: number, isOn: boolean): S {
  const status = isOn ? state.status | bit : state.status & ~bit;
  return status === state.status ? state : { ...state, status };
}

type Placed = { workingDirectories?: readonly URI[] };

export function addDirectory<S extends Placed>(state: S, directory: URI): S {
  const { workingDirectories = [] } = state;
  if (workingDirectories.includes(directory)) return state;
  return { ...state, workingDirectories: [...workingDirectories, directory] };
}

export function removeDirectory<S extends Placed>(state: S, directory: URI): S {
  if (!state.workingDirectories?.includes(directory)) return state;
  return { ...state, workingDirectories: without(state.workingDirectories, (one) => one === directory) };
}

/** The replacement takes the place of the directory, unless it is listed earlier; it is listed once. */
export function replaceDirectory<S extends Placed>(state: S, directory: URI, replacement: URI): S {
  const directories = state.workingDirectories ?? [];
  const place = directories.indexOf(directory);
  if (place < 0 || directory === replacement) return state;
  const before = directories.slice(0, place);
  const own = before.includes(replacement) ? [] : [replacement];
  const after = without(directories.slice(place + 1), (one) => one === replacement);
  return { ...state, workingDirectories: [...before, ...own, ...after] };
}
