/** The input of a tool, for people: a command as typed, an edit as a diff, and JSON for everything else. */
import type { ComponentChildren } from "preact";
import { DiffView } from "../diffs/diffview";
import { Code, CodeBlock } from "../parts/code";
import { Copy } from "../parts/copy";
import { asIs, readInput, type Rest } from "./inputs";

/** Show the input of a call. */
export function Input({ text, isFolded }: { text: string; isFolded: boolean }) {
  if (isEmpty(text)) return null;
  const isCommand = readInput(text).kind === "command"; // one line says more than "Input" does
  return (
    <Folded isFolded={isFolded && !isCommand} title="Input">
      <InputView text={text} isBeside={isFolded} />
    </Folded>
  );
}

/** Show an input by its meaning. If its change is shown already, an edit is only JSON. */
export function InputView({ text, isBeside = false }: { text: string; isBeside?: boolean }) {
  const read = readInput(text);
  const input = isBeside && read.kind === "edit" ? asIs(text) : read;
  switch (input.kind) {
    case "command":
      return (
        <>
          <Command command={input.command} />
          <RestView rest={input.rest} />
        </>
      );
    case "edit":
      return (
        <>
          <div class="edit card">
            <p class="edit-head mono path">{input.path}</p>
            <DiffView before={input.before} after={input.after} />
          </div>
          <RestView rest={input.rest} />
        </>
      );
    default:
      return <CodeBlock text={input.text} language={input.isJson ? "json" : ""} label="Input" />;
  }
}

function Command({ command }: { command: string }) {
  return (
    <figure class="code command">
      <span class="prompt mono" aria-hidden="true">
        $
      </span>
      <Code text={command} language="sh" label="Command" />
      <Copy text={command} label="Copy command" />
    </figure>
  );
}

function RestView({ rest }: { rest: Rest }) {
  if (rest.length === 0) return null;
  return (
    <dl class="facts rest">
      {rest.map(([name, value]) => (
        <>
          <dt>{name}</dt>
          <dd class="mono">{value}</dd>
        </>
      ))}
    </dl>
  );
}

/** Whether the input is empty, so that nothing is shown. */
export function isEmpty(text: string): boolean {
  return /^\s*(\{\s*\})?\s*$/.test(text);
}

/** Show content, folded or not. */
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
