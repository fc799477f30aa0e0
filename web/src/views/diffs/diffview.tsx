/** A diff as a table of lines: numbers of both sides, a sign, the text. */
import { memo } from "preact/compat";
import { type Diff, diffTexts, type Line } from "./diff";

const SIGNS = { same: " ", added: "+", removed: "−" } as const;
const NAMES = { same: "", added: "added", removed: "removed" } as const;
/** How many lines are shown at once; a larger change says how many more there are. */
const MOST_LINES = 1500;

/** Show what changed between two texts. */
export const DiffView = memo(function DiffView({ before, after }: { before: string; after: string }) {
  const diff = diffTexts(before, after);
  if (diff.hunks.length === 0) return <p class="faint pad">No line differs.</p>;
  return (
    <div class="diff" role="region" aria-label="changes" tabIndex={0}>
      <table>
        <tbody>{rowsOf(diff)}</tbody>
      </table>
    </div>
  );
});

function rowsOf(diff: Diff) {
  const rows = [];
  let count = 0;
  for (const [at, hunk] of diff.hunks.entries()) {
    if (hunk.skipped > 0) rows.push(<Gap key={`gap ${at}`} count={hunk.skipped} />);
    for (const line of hunk.lines.slice(0, MOST_LINES - count)) rows.push(<Row key={count++} line={line} />);
  }
  const left = diff.hunks.reduce((sum, hunk) => sum + hunk.lines.length, 0) - count;
  if (left + diff.skipped > 0) rows.push(<Gap key="end" count={left + diff.skipped} changed={left > 0} />);
  return rows;
}

function Gap({ count, changed = false }: { count: number; changed?: boolean }) {
  const words = `${count} ${changed ? "more" : "unchanged"} line${count === 1 ? "" : "s"}`;
  return (
    <tr class="gap">
      <td colSpan={4}>{words}</td>
    </tr>
  );
}

function Row({ line }: { line: Line }) {
  return (
    <tr class={line.kind}>
      <td class="number">{line.before}</td>
      <td class="number">{line.after}</td>
      <td class="sign">
        <span aria-hidden="true">{SIGNS[line.kind]}</span>
        {NAMES[line.kind] && <span class="unseen">{NAMES[line.kind]}</span>}
      </td>
      <td class="text">
        <Marked line={line} />
      </td>
    </tr>
  );
}

function Marked({ line }: { line: Line }) {
  if (!line.changed) return <>{line.text}</>;
  const [from, to] = line.changed;
  return (
    <>
      {line.text.slice(0, from)}
      <mark>{line.text.slice(from, to)}</mark>
      {line.text.slice(to)}
    </>
  );
}
