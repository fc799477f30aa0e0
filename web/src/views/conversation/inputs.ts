/** What the input of a tool call means to people: a command, a change of a file, or only JSON. */

export type Input =
  | { readonly kind: "command"; readonly command: string; readonly rest: Rest }
  | {
      readonly kind: "edit";
      readonly path: string;
      readonly before: string;
      readonly after: string;
      readonly rest: Rest;
    }
  | { readonly kind: "other"; readonly text: string; readonly isJson: boolean };

/** The other arguments, by name. */
export type Rest = readonly (readonly [name: string, value: string])[];

type Values = Readonly<Record<string, unknown>>;

const COMMANDS = ["command", "cmd"];
const PATHS = ["path", "file_path", "filePath"];
const BEFORE = ["old", "old_string", "oldString", "oldText", "old_text"];
const AFTER = ["new", "new_string", "newString", "newText", "new_text"];

/** Read the input of a call. */
export function readInput(text: string): Input {
  const values = objectOf(text);
  return (values && (commandIn(values) ?? editIn(values))) ?? asIs(text);
}

/** Return an input as it is, uninterpreted. */
export function asIs(text: string): Input {
  const json = pretty(text);
  return { kind: "other", text: json ?? text, isJson: json !== undefined };
}

/** Return the input with another command, as JSON. */
export function withCommand(text: string, command: string): string {
  const values = objectOf(text) ?? {};
  const name = COMMANDS.find((one) => one in values) ?? COMMANDS[0]!;
  return JSON.stringify({ ...values, [name]: inPlaceOf(values[name], command) });
}

/** Return JSON with line breaks; nothing if the text is not JSON. */
export function pretty(text: string): string | undefined {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return undefined;
  }
}

function objectOf(text: string): Values | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null && !Array.isArray(value)
      ? (value as Values)
      : undefined;
  } catch {
    return undefined;
  }
}

function commandIn(values: Values): Input | undefined {
  const name = COMMANDS.find((one) => one in values);
  const command = name && commandOf(values[name]);
  return command ? { kind: "command", command, rest: restOf(values, [name]) } : undefined;
}

/** A command line; for a list of words, the script of a shell, or the words as a user would type them. */
function commandOf(value: unknown): string | undefined {
  if (typeof value === "string") return value.trim() ? value : undefined;
  if (!isWords(value) || value.length === 0) return undefined;
  return isScript(value) ? value[2] : value.map(quoted).join(" ");
}

function isWords(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((one) => typeof one === "string");
}

function isScript(words: readonly string[]): boolean {
  return words.length === 3 && /^-l?c$/.test(words[1]!);
}

function quoted(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'"'"'`)}'`;
}

function inPlaceOf(before: unknown, command: string): unknown {
  if (!isWords(before)) return command;
  return isScript(before) ? [before[0], before[1], command] : ["sh", "-c", command];
}

function editIn(values: Values): Input | undefined {
  const [path, before, after] = [PATHS, BEFORE, AFTER].map((names) =>
    names.find((one) => typeof values[one] === "string"),
  );
  if (!path || !before || !after) return undefined;
  const text = (name: string) => values[name] as string;
  return {
    kind: "edit",
    path: text(path),
    before: text(before),
    after: text(after),
    rest: restOf(values, [path, before, after]),
  };
}

function restOf(values: Values, shown: readonly string[]): Rest {
  return Object.entries(values)
    .filter(([name]) => !shown.includes(name))
    .map(([name, value]) => [name, typeof value === "string" ? value : JSON.stringify(value)]);
}
