import { expect, test } from "vitest";
import type { SessionState } from "../../src/ahp/wire";
import { readInput, withCommand } from "../../src/views/conversation/inputs";
import { waitingCalls, waitsForPerson } from "../../src/views/conversation/waiting";
import { examplesFor } from "../../src/views/sessions/examples";

test("a command is read as one would type it", () => {
  const read = (command: unknown) => readInput(JSON.stringify({ command }));
  expect(read("ls -l")).toEqual({ kind: "command", command: "ls -l", rest: [] });
  expect(read(["bash", "-lc", "cd a && ls"])).toMatchObject({ command: "cd a && ls" });
  expect(read(["echo", "two words", "it's"])).toMatchObject({ command: `echo 'two words' 'it'"'"'s'` });
  expect(readInput('{"cmd": "ls", "seconds": 5, "cwd": "/tmp"}')).toEqual({
    kind: "command",
    command: "ls",
    rest: [
      ["seconds", "5"],
      ["cwd", "/tmp"],
    ],
  });
});

test("a command that was changed keeps the shape of the input", () => {
  expect(JSON.parse(withCommand('{"command": "ls", "seconds": 5}', "pwd"))).toEqual({
    command: "pwd",
    seconds: 5,
  });
  expect(JSON.parse(withCommand('{"cmd": ["bash", "-lc", "ls"]}', "pwd"))).toEqual({
    cmd: ["bash", "-lc", "pwd"],
  });
  expect(JSON.parse(withCommand('{"command": ["ls", "-l"]}', "pwd"))).toEqual({
    command: ["sh", "-c", "pwd"],
  });
});

test("an edit that names the old and the new text is a change of a file", () => {
  const text = '{"file_path": "a.py", "old_string": "x", "new_string": "y", "all": true}';
  expect(readInput(text)).toEqual({
    kind: "edit",
    path: "a.py",
    before: "x",
    after: "y",
    rest: [["all", "true"]],
  });
});

test("what is neither is JSON, or a text", () => {
  expect(readInput('{"a":1}')).toEqual({ kind: "other", text: '{\n  "a": 1\n}', isJson: true });
  for (const text of ['{"command": ""}', '{"command": 1}', '{"command": []}', '["command"]', "null"])
    expect(readInput(text)).toMatchObject({ kind: "other", isJson: true });
  expect(readInput("rm -rf {")).toEqual({ kind: "other", text: "rm -rf {", isJson: false });
});

test("a turn waits for a person while a call or a question does", () => {
  const part = (toolCallId: string, status: string) => ({
    kind: "toolCall",
    toolCall: { toolCallId, status },
  });
  const state = (parts: unknown[], inputRequests: unknown[] = []) =>
    ({ activeTurn: { responseParts: parts }, inputRequests }) as unknown as SessionState;
  const mixed = state([part("1", "pending-confirmation"), part("2", "running"), { kind: "markdown" }]);
  expect(waitingCalls(mixed).map((one) => one.toolCallId)).toEqual(["1"]);
  expect(waitsForPerson(mixed)).toBe(true);
  expect(waitsForPerson(state([part("1", "pending-result-confirmation")]))).toBe(true);
  expect(waitsForPerson(state([part("1", "running")]))).toBe(false);
  expect(waitsForPerson(state([], [{ id: "q" }]))).toBe(true);
  expect(waitsForPerson({} as SessionState)).toBe(false);
});

test("every agent has examples, and the one that comes with the server has its own", () => {
  expect(examplesFor("demo").map((one) => one.text)).toContain("/ask");
  expect(examplesFor("somebody").length).toBeGreaterThan(0);
});
