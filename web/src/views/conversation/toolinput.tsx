/** What a tool is given, for people: JSON with line breaks, folded away where something better tells what happens. */
import type { ComponentChildren } from "preact";
import { CodeBlock } from "../parts/code";

/** Show the input of a call. */
export function Input({ text, isFolded }: { text: string; isFolded: boolean }) {
  const json = pretty(text);
  if (isEmpty(text)) return null;
  return (
    <Folded isFolded={isFolded} title="Input">
      <CodeBlock text={json ?? text} language={json ? "json" : ""} label="Input" />
    </Folded>
  );
}

/** Whether a tool is given nothing, which needs no words. */
export function isEmpty(text: string): boolean {
  return /^\s*(\{\s*\})?\s*$/.test(text);
}

/** Fold something away, or do not. */
export function Folded({
  isFolded,
  title,
  children,
}: {
  isFolded: boolean;
  title: string;
  children: ComponentChildren;
}) {
  if (!isFolded) return <>{children}</>;
  return (
    <details class="folded">
      <summary class="faint">{title}</summary>
      {children}
    </details>
  );
}

/** Give JSON with line breaks; nothing if the text is none. */
export function pretty(text: string): string | undefined {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return undefined;
  }
}
