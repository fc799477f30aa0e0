/**
 * Markdown text as blocks. While text streams in, only the last block is parsed again.
 *
 * Text that follows cannot change anything before the last block, except link definitions: those that come after
 * their use count once the text is complete, when it is parsed in one piece.
 */
import { Lexer, type Token } from "marked";

export interface Document {
  readonly source: string;
  readonly blocks: readonly Token[];
  /** How many blocks are final, and where in the source the others begin. */
  readonly settled: number;
  readonly from: number;
}

const CARRIAGE_RETURN = /\r\n?/g;
const NOTHING: Document = { source: "", blocks: [], settled: 0, from: 0 };

/** Read Markdown; `before` is the result for the beginning of the same text, if there is one. */
export function readMarkdown(text: string, before: Document = NOTHING): Document {
  const source = text.includes("\r") ? text.replace(CARRIAGE_RETURN, "\n") : text;
  if (!source.startsWith(before.source)) return readMarkdown(source);
  if (source.length === before.source.length) return before;
  const blocks = before.blocks.slice(0, before.settled);
  let settled = blocks.length;
  let from = before.from;
  let start = before.from;
  for (const token of new Lexer({ gfm: true }).lex(source.slice(before.from))) {
    if (token.type !== "space" && token.type !== "def") {
      settled = blocks.length;
      from = start;
      blocks.push(token);
    }
    start += token.raw.length;
  }
  // If the tokens do not add up to the text, their positions are unknown: nothing new is final.
  if (start !== source.length) return { source, blocks, settled: before.settled, from: before.from };
  return { source, blocks, settled, from };
}
