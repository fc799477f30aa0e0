/** Two texts compared line by line: the fewest lines that change (Myers), in hunks with some lines around them. */

export type LineKind = "same" | "added" | "removed";

export interface Line {
  readonly kind: LineKind;
  readonly text: string;
  /** Numbers from 1, on the side or sides where the line is. */
  readonly before?: number;
  readonly after?: number;
  /** What of the line differs from the line that it replaces: from, to. */
  readonly changed?: readonly [number, number];
}

export interface Hunk {
  readonly lines: readonly Line[];
  /** How many lines are left out before this hunk. */
  readonly skipped: number;
}

export interface Diff {
  readonly hunks: readonly Hunk[];
  readonly added: number;
  readonly removed: number;
  /** How many lines are left out after the last hunk. */
  readonly skipped: number;
}

const CONTEXT = 3;
/** Up to how many differences the minimal diff is computed; beyond that, everything in between is replaced. */
const MOST_EDITS = 2000;

/** Compare two texts. */
export function diffTexts(before: string, after: string): Diff {
  const lines = paired(diffLines(splitLines(before), splitLines(after)));
  const added = lines.filter((line) => line.kind === "added").length;
  const removed = lines.filter((line) => line.kind === "removed").length;
  return { ...intoHunks(lines), added, removed };
}

function splitLines(text: string): string[] {
  if (text === "") return [];
  const lines = text.split("\n");
  if (lines.at(-1) === "") lines.pop();
  return lines;
}

function diffLines(before: readonly string[], after: readonly string[]): Line[] {
  let head = 0;
  while (head < before.length && head < after.length && before[head] === after[head]) head++;
  let tail = 0;
  const most = Math.min(before.length, after.length) - head;
  while (tail < most && before[before.length - 1 - tail] === after[after.length - 1 - tail]) tail++;
  const lines: Line[] = [];
  for (let at = 0; at < head; at++) lines.push(same(before, at, at));
  const [a, b] = [before.slice(head, before.length - tail), after.slice(head, after.length - tail)];
  for (const [kind, x, y] of edits(a, b)) {
    if (kind === "same") lines.push(same(before, head + x, head + y));
    else if (kind === "removed") lines.push({ kind, text: a[x] ?? "", before: head + x + 1 });
    else lines.push({ kind, text: b[y] ?? "", after: head + y + 1 });
  }
  for (let at = tail; at > 0; at--) lines.push(same(before, before.length - at, after.length - at));
  return lines;
}

function same(before: readonly string[], x: number, y: number): Line {
  return { kind: "same", text: before[x] ?? "", before: x + 1, after: y + 1 };
}

type Edit = readonly [kind: LineKind, x: number, y: number];

/** Myers' algorithm: how far each diagonal reaches with `d` edits, kept for the way back. */
function edits(a: readonly string[], b: readonly string[]): Edit[] {
  const most = Math.min(a.length + b.length, MOST_EDITS);
  const reach = new Int32Array(2 * most + 3);
  const at = most + 1;
  const trace: Int32Array[] = [];
  for (let d = 0; d <= most; d++) {
    // Only reachable diagonals are kept: memory grows with the square of the differences, not of the limit.
    trace.push(reach.slice(at - d - 1, at + d + 2));
    for (let k = -d; k <= d; k += 2) {
      const down = k === -d || (k !== d && reach[at + k - 1]! < reach[at + k + 1]!);
      let x = down ? reach[at + k + 1]! : reach[at + k - 1]! + 1;
      while (x < a.length && x - k < b.length && a[x] === b[x - k]) x++;
      reach[at + k] = x;
      if (x >= a.length && x - k >= b.length) return wayBack(trace, a.length, b.length);
    }
  }
  return [...a.map((_, x): Edit => ["removed", x, 0]), ...b.map((_, y): Edit => ["added", a.length, y])];
}

function wayBack(trace: readonly Int32Array[], endX: number, endY: number): Edit[] {
  const found: Edit[] = [];
  let [x, y] = [endX, endY];
  for (let d = trace.length - 1; d > 0; d--) {
    const reach = trace[d]!;
    const at = d + 1; // where diagonal 0 is in this slice
    const k = x - y;
    const down = k === -d || (k !== d && reach[at + k - 1]! < reach[at + k + 1]!);
    const fromX = down ? reach[at + k + 1]! : reach[at + k - 1]!;
    const fromY = fromX - (down ? k + 1 : k - 1);
    while (x > fromX && y > fromY) found.push(["same", --x, --y]);
    if (x > fromX) found.push(["removed", --x, y]);
    else if (y > fromY) found.push(["added", x, --y]);
  }
  while (x > 0 && y > 0) found.push(["same", --x, --y]);
  return found.reverse();
}

/** Mark what differs within lines where as many were removed as were added in their place. */
function paired(lines: readonly Line[]): Line[] {
  const marked = [...lines];
  for (let at = 0; at < lines.length; at++) {
    if (lines[at]?.kind !== "removed") continue;
    const middle = endOf(lines, at, "removed");
    const end = endOf(lines, middle, "added");
    if (end - middle === middle - at) {
      for (let one = at; one < middle; one++) markPair(marked, one, one + middle - at);
    }
    at = end - 1;
  }
  return marked;
}

function endOf(lines: readonly Line[], from: number, kind: LineKind): number {
  let at = from;
  while (lines[at]?.kind === kind) at++;
  return at;
}

function markPair(lines: Line[], removed: number, added: number): void {
  const [old, now] = [lines[removed]!, lines[added]!];
  const most = Math.min(old.text.length, now.text.length);
  let head = 0;
  while (head < most && old.text[head] === now.text[head]) head++;
  let tail = 0;
  while (tail < most - head && old.text.at(-1 - tail) === now.text.at(-1 - tail)) tail++;
  if (head + tail < most / 3) return; // hardly anything in common: marking nearly everything would not help
  lines[removed] = { ...old, changed: [head, old.text.length - tail] };
  lines[added] = { ...now, changed: [head, now.text.length - tail] };
}

function intoHunks(lines: readonly Line[]): { hunks: Hunk[]; skipped: number } {
  const hunks: Hunk[] = [];
  let taken = 0;
  for (let at = 0; at < lines.length; at++) {
    if (lines[at]?.kind === "same") continue;
    const start = Math.max(taken, at - CONTEXT);
    let last = at;
    for (let one = at; one < lines.length && one - last <= 2 * CONTEXT; one++)
      if (lines[one]?.kind !== "same") last = one;
    const end = Math.min(lines.length, last + CONTEXT + 1);
    hunks.push({ lines: lines.slice(start, end), skipped: start - taken });
    taken = end;
    at = end - 1;
  }
  return { hunks, skipped: lines.length - taken };
}
