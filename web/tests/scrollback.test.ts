import { expect, test } from "vitest";
import { outputOf, shorten } from "../src/ahp/scrollback";
import type { TerminalContentPart, TerminalState } from "../src/ahp/wire";

function terminal(...content: TerminalContentPart[]): TerminalState {
  const claim = { kind: "client", clientId: "me" } as const;
  return { title: "sh", content, claim, lifecycle: { status: "running" } };
}

const command = (output: string): TerminalContentPart => ({
  type: "command",
  commandId: "1",
  commandLine: "yes",
  output,
  timestamp: 1,
  isComplete: true,
});

const text = (state: TerminalState) => state.content.map(outputOf).join("");

test("a terminal with little output stays as it is, and so does what is no terminal", () => {
  const state = terminal({ type: "unclassified", value: "x".repeat(1_500_000) });
  expect(shorten(state)).toBe(state);
  const root = { agents: [] };
  expect(shorten(root)).toBe(root);
});

test("of much output the newest is kept, and what kept none of it goes", () => {
  const state = terminal(command("a".repeat(900_000)), command("b".repeat(900_000)), {
    type: "unclassified",
    value: "c".repeat(400_000),
  });
  const shorter = shorten(state) as TerminalState;
  expect(text(shorter)).toBe("b".repeat(600_000) + "c".repeat(400_000));
  expect(shorter.content.map(({ type }) => type)).toEqual(["command", "unclassified"]);
});
