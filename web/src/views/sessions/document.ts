/** A session as a document: everything that was said and done in it, in Markdown. Pure. */
import type {
  ActiveTurn,
  ChatState,
  ResponsePart,
  SessionState,
  SessionSummary,
  StringOrMarkdown,
  ToolCallState,
  ToolResultContent,
  Turn,
  UsageInfo,
} from "../../ahp/wire";
import { nameOfChat } from "../conversation/chats";
import { labelOf } from "../conversation/labels";
import { readInput } from "../conversation/inputs";

const MAX_INPUT = 200;

/** A complete session: its entry in the list, and its chats, the first one first. */
export interface Written {
  readonly summary: SessionSummary;
  readonly session: SessionState;
  readonly chats: readonly ChatState[];
}

/** Return a session as Markdown. */
export function markdownOf({ summary, session, chats }: Written): string {
  const times = `from ${timeOf(summary.createdAt)} to ${timeOf(summary.modifiedAt)}`;
  const id = summary.resource.replace(/^.*?:\//, "").replace(/^\/+/, "") || summary.resource;
  const title = summary.title || "Untitled";
  const blocks = [
    `# ${title}`,
    `Session ${id} with ${summary.provider}, ${times}.`,
    ...chats.flatMap((chat, at) => [
      ...(at > 0 ? [`# ${title}: ${nameOfChat(session, chat)}`] : []),
      ...chatBlocks(chat, summary.provider),
    ]),
  ];
  return `${blocks.join("\n\n")}\n`;
}

function timeOf(time: string): string {
  return `${new Date(time).toISOString().slice(0, 16).replace("T", " ")} UTC`;
}

function chatBlocks({ turns, activeTurn }: ChatState, agent: string): string[] {
  const all: readonly (Turn | ActiveTurn)[] = activeTurn ? [...turns, activeTurn] : turns;
  return all.flatMap((turn) => turnBlocks(turn, agent));
}

function turnBlocks(turn: Turn | ActiveTurn, agent: string): string[] {
  const { text, attachments = [] } = turn.message;
  const blocks = ["## User", text, ...attachments.map((one) => `- attached: ${labelOf(one)}`), `## ${agent}`];
  blocks.push(...turn.responseParts.flatMap(partBlocks));
  if (!("state" in turn)) blocks.push("*still running*");
  else if (turn.state === "cancelled") blocks.push("*stopped*");
  const cost = usedOf(turn.usage);
  if (cost) blocks.push(`*${cost}*`);
  return blocks.filter((block) => block.trim());
}

function partBlocks(part: ResponsePart): string[] {
  switch (part.kind) {
    case "markdown":
      return [part.content.replace(/^\n+|\n+$/g, "")];
    case "reasoning":
      return [part.content.trim().split("\n").map((line) => `> ${line}`.trimEnd()).join("\n")]; // prettier-ignore
    case "systemNotification":
      return [`*${plainOf(part.content)}*`];
    case "contentRef":
      return [`*content: ${sizedOf(part)}*`];
    case "toolCall":
      return callBlocks(part.toolCall);
    case "error":
      return [`**Error:** ${part.error.message}`];
    default:
      return [];
  }
}

function callBlocks(call: ToolCallState): string[] {
  const isOver = call.status === "completed" || call.status === "cancelled";
  const blocks = [`**${call.displayName}**: ${isOver ? outcomeOf(call) : headlineOf(call)}`];
  if (givenTo(call) && call.status !== "streaming") blocks.push(fenced(givenTo(call), "json"));
  const lines = contentOf(call).flatMap((one) => (one.type === "text" ? linesOf(one.text) : []));
  if (lines.length > 0) blocks.push(fenced(lines.join("\n"), "text"));
  for (const one of contentOf(call))
    if (one.type === "fileEdit") blocks.push(`- changed: ${(one.after ?? one.before)?.uri ?? "a file"}`);
  for (const one of contentOf(call))
    if (one.type === "subagent") blocks.push(`- subagent: ${one.title} (${one.resource})`);
  return blocks;
}

function contentOf(call: ToolCallState): readonly ToolResultContent[] {
  return ("content" in call && call.content) || [];
}

function linesOf(text: string): string[] {
  if (!text.trim()) return [];
  const lines = clean(text).replace(/^\n+|\n+$/g, "");
  return lines.split("\n").map((line) => line.trimEnd());
}

const ENDS = { denied: "denied", skipped: "not run", "result-denied": "its result was withheld" } as const;

/** The outcome of a call, in a line. */
function outcomeOf(call: ToolCallState): string {
  if (call.status === "cancelled") {
    const said = `${headlineOf(call)}: ${ENDS[call.reason] ?? call.reason}`;
    const why = plainOf(call.reasonMessage);
    return why ? `${said}: ${oneLine(why, 500)}` : said;
  }
  if (call.status !== "completed") return headlineOf(call);
  const name = oneLine(call.displayName, 80);
  const done = oneLine(plainOf(call.pastTenseMessage) || name, 200);
  if (call.error) return `${done}: ${oneLine(call.error.message, 500)}`;
  const given = inputOf(call);
  return given && done.includes(name) ? `${done} ${given}` : done;
}

/** The tool and its input, in a line: in the tool's own words, if it has any. */
function headlineOf(call: ToolCallState): string {
  const told = plainOf(call.invocationMessage);
  if (told && told !== call.displayName) return oneLine(told, MAX_INPUT);
  return `${oneLine(call.displayName, 80)} ${inputOf(call)}`.trimEnd();
}

function inputOf(call: ToolCallState): string {
  const text = givenTo(call);
  const read = readInput(text);
  if (read.kind === "command") return oneLine(`$ ${read.command}`, MAX_INPUT);
  const value = jsonOf(text);
  if (typeof value !== "object" || value === null || Array.isArray(value)) return oneLine(text, MAX_INPUT);
  const given = Object.entries(value).map(
    ([key, item]) => `${key}: ${typeof item === "string" ? item : JSON.stringify(item)}`,
  );
  return oneLine(given.join(", "), MAX_INPUT);
}

/** The input of a call as text; nothing if it is stored elsewhere. */
function givenTo(call: ToolCallState): string {
  const given = call.status === "streaming" ? call.partialInput : call.toolInput;
  return typeof given === "string" ? given : "";
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function sizedOf(content: { contentType?: string; sizeHint?: number; uri: string }): string {
  const size = content.sizeHint === undefined ? "" : `, ${bytesOf(content.sizeHint)}`;
  return oneLine(`${content.contentType ?? "content"}${size}: ${content.uri}`, MAX_INPUT);
}

function bytesOf(count: number): string {
  return count < 1_000 ? `${count.toFixed(0)} bytes` : `${(count / 1_000).toFixed(0)} kB`;
}

function usedOf(usage: UsageInfo | undefined): string {
  if (!usage) return "";
  const named = [
    [usage.inputTokens, "in"],
    [usage.outputTokens, "out"],
    [usage.cacheReadTokens, "cached"],
  ] as const;
  const words = named
    .filter(([tokens]) => tokens !== undefined)
    .map(([tokens, name]) => `${tokens!.toLocaleString("en-US", { maximumFractionDigits: 0 })} ${name}`);
  return [words.length > 0 && `${words.join(", ")} tokens`, usage.model].filter(Boolean).join(" · ");
}

function plainOf(words: StringOrMarkdown | undefined): string {
  return typeof words === "object" ? words.markdown : (words ?? "");
}

/** A text without control characters, with tabs as spaces and uniform line ends. */
function clean(text: string): string {
  const lines = text.replace(/\r\n?/g, "\n").replace(/[\x00-\x08\x0b-\x1f\x7f-\x9f]/g, "");
  return lines.split("\n").map(spaced).join("\n");
}

function spaced(line: string): string {
  let made = "";
  for (const part of line.split(/(\t)/)) made += part === "\t" ? " ".repeat(4 - (made.length % 4)) : part;
  return made;
}

function oneLine(text: string, most: number): string {
  const words = Array.from(clean(text).split(/\s+/).filter(Boolean).join(" "));
  return words.length <= most ? words.join("") : `${words.slice(0, most - 1).join("")}…`;
}

/** A text in a fence that is longer than any inside of it. */
function fenced(text: string, language: string): string {
  const inside = [...text.matchAll(/^ {0,3}(`{3,})/gm)].map((found) => found[1]!.length);
  const fence = "`".repeat(Math.max(2, ...inside) + 1);
  return `${fence}${language}\n${text}\n${fence}`;
}
