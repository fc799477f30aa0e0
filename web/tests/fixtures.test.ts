/** Cases as data: the protocol's, or any of their form, wherever AHP_1_0_FIXTURES says they are. */

import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { type Kind, kindOf, reduce } from "../src/ahp/reducers";
import type { Action, State } from "../src/ahp/wire";

interface Case {
  description?: string;
  reducer: Kind;
  initial: State;
  actions: Action[];
  expected: State;
}

const FOLDER = process.env["AHP_1_0_FIXTURES"];
/** What this page has reducers for. */
const KINDS = new Set<string>(["root", "session", "chat", "terminal", "changeset"]);

function withoutNulls(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutNulls);
  if (typeof value !== "object" || value === null) return value;
  const kept = Object.entries(value).filter(([, entry]) => entry !== null);
  return Object.fromEntries(kept.map(([key, entry]) => [key, withoutNulls(entry)]));
}

/** What an action brings is kept as it is; only what it says itself may be null, and then means nothing. */
function asSent(action: Action): Action {
  const fields = Object.entries(action).map(([key, value]) => [key, withoutNulls(value)]);
  return Object.fromEntries(fields) as Action;
}

/** Freezes all of a value, so that a reducer that changes anything in place fails. */
function freeze<T>(value: T): T {
  if (typeof value === "object" && value !== null && !Object.isFrozen(value)) {
    Object.freeze(value);
    Object.values(value).forEach(freeze);
  }
  return value;
}

/** Reads all files of a folder: one case or a list of them in a `.json`, one in each line of a `.jsonl`. */
function casesOf(folder: string): Case[] {
  const names = readdirSync(folder, { recursive: true, encoding: "utf8" }).sort();
  return names.flatMap((name) => {
    const read = () => readFileSync(join(folder, name), "utf8");
    const found = name.endsWith(".jsonl")
      ? read().split("\n").filter(Boolean).map((line) => JSON.parse(line) as Case) // prettier-ignore
      : name.endsWith(".json")
        ? [JSON.parse(read()) as Case | Case[]].flat()
        : [];
    return found
      .filter(({ reducer }) => KINDS.has(reducer))
      .map((one, at) => ({ ...one, description: one.description ?? `${name} ${at + 1}` }));
  });
}

describe.skipIf(!FOLDER)("every case gives the state that it expects", () => {
  const cases = FOLDER ? casesOf(FOLDER) : [];
  test("there are cases", () => expect(cases.length).toBeGreaterThan(0));
  test.each(cases)("$description", ({ reducer, initial, actions, expected }) => {
    const start = freeze(withoutNulls(initial) as State);
    expect(kindOf(start)).toBe(reducer);
    const log = actions.map((action) => freeze(asSent(action)));
    const end = log.reduce((state, action) => freeze(reduce(reducer, state, action)), start);
    expect(end).toStrictEqual(withoutNulls(expected));
  });
});
