import { expect, test } from "vitest";
import { readInput, withCommand } from "../../src/views/conversation/inputs";
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

test("every agent has examples, and the one that comes with the server has its own", () => {
  expect(examplesFor("demo").map((one) => one.text)).toContain("/ask");
  expect(examplesFor("somebody").length).toBeGreaterThan(0);
});
