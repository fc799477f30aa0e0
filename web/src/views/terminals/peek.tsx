/** A glance at a terminal: its last lines as text. */
import { outputOf, useTerminal } from "../../ahp";
import { lastLines } from "./plain";

const LINES = 12;

/** Show the last lines of a terminal, live. */
export function TerminalPeek({ uri }: { uri: string }) {
  const watch = useTerminal(uri);
  const state = watch.state.value;
  if (!state) return null;
  const text = lastLines(state.content.slice(-20).map(outputOf).join(""), LINES);
  return (
    <pre class="peek" aria-label="Output" tabIndex={0} role="region">
      {text}
    </pre>
  );
}
