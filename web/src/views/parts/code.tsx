/** A block of code: its language, a button that copies it, and the text, coloured a little. */
import { memo } from "preact/compat";
import { colour } from "./colouring";
import { Copy } from "./copy";

/** Longer code is plain. */
const LONGEST_COLOURED = 100_000;
/** Long code is split into pieces of this many lines: while it grows, only its end is laid out again. */
const LINES = 64;

interface CodeBlockProps {
  text: string;
  language?: string;
  label?: string;
}

/** Show code. */
export const CodeBlock = memo(function CodeBlock({ text, language = "", label }: CodeBlockProps) {
  const name = label ?? (language || "text");
  return (
    <figure class="code">
      <figcaption>
        <span>{name}</span>
        <Copy text={text} label="Copy code" />
      </figcaption>
      <Code text={text} language={language} label={`${name}, code`} />
    </figure>
  );
});

/** Show code without anything around it. */
export function Code({ text, language = "", label }: { text: string; language?: string; label: string }) {
  const name = text.length > LONGEST_COLOURED ? "" : language;
  const pieces = piecesOf(text);
  return (
    <pre class="code-text" tabIndex={0} role="region" aria-label={label}>
      <code>
        {pieces.length === 1
          ? colour(text, name)
          : pieces.map((piece, at) => <Piece key={at} text={piece} language={name} />)}
      </code>
    </pre>
  );
}

const Piece = memo(function Piece({ text, language }: { text: string; language: string }) {
  return <span class="piece">{colour(text, language)}</span>;
});

/** Split code into pieces. */
export function piecesOf(text: string): string[] {
  const pieces: string[] = [];
  let start = 0;
  for (let at = 0, lines = 0; (at = text.indexOf("\n", at)) >= 0; at++) {
    if (++lines % LINES !== 0) continue;
    pieces.push(text.slice(start, at + 1));
    start = at + 1;
  }
  if (start < text.length || pieces.length === 0) pieces.push(text.slice(start));
  return pieces;
}
