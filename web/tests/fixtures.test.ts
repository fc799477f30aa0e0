/** Cases as data: the protocol's published ones, or any of their form, wherever AHP_FIXTURES says they are. */

import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { type Kind, reduce } from "../src/ahp/reducers";
import type { Action, State } from "../src/ahp/wire";

interface Case {
  description: string;
  reducer: Kind;
  initial: State;
  actions: Action[];
  expected: State;
}

const FOLDER = process.env["AHP_FIXTURES"];
const NOW = 9999;

function withoutNulls(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutNulls);
  if (typeof value !== "object" || value === null) return value;
  const kept = Object.entries(value).filter(([, entry]) => entry !== null);
  return Object.fromEntries(kept.map(([key, entry]) => [key, withoutNulls(entry)]));
}

/** Freezes all of a value, so that a reducer that changes anything in place fails. */
function freeze<T>(value: T): T {
  if (typeof value === "object" && value !== null && !Object.isFrozen(value)) {
    Object.freeze(value);
    Object.values(value).forEach(freeze);
  }
  return value;
}

function casesOf(folder: string): Case[] {
  const names = readdirSync(folder).filter((name) => name.endsWith(".json"));
  return names.flatMap((name) => JSON.parse(readFileSync(join(folder, name), "utf8")) as Case | Case[]);
}

describe.skipIf(!FOLDER)("every case gives the state that it expects", () => {
  const cases = FOLDER ? casesOf(FOLDER) : [];
  test("there are cases", () => expect(cases.length).toBeGreaterThan(0));
  test.each(cases)("$description", ({ reducer, initial, actions, expected }) => {
    const start = freeze(withoutNulls(initial) as State);
    const end = actions.reduce((state, action) => freeze(reduce(reducer, state, freeze(action), NOW)), start);
    expect(end).toStrictEqual(withoutNulls(expected));
  });
});
