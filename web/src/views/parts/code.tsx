/** A block of code: its language, a button that copies it, and the text, coloured a little. */
import { memo } from "preact/compat";
import { Copy } from "./copy";
import { colour } from "./colouring";

const LONGEST_COLOURED = 20_000;

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
      <pre tabIndex={0} role="region" aria-label={`${name}, code`}>
        <code>{text.length > LONGEST_COLOURED ? text : colour(text, language)}</code>
      </pre>
    </figure>
  );
});
