import { expect, test } from "vitest";
import { type Diff, diffTexts, type LineKind } from "../../src/views/diffs/diff";

function shown(diff: Diff): string[] {
  const marks: Record<LineKind, string> = { same: " ", added: "+", removed: "-" };
  return diff.hunks.flatMap((hunk) => hunk.lines.map((line) => marks[line.kind] + line.text));
}

function side(before: string, after: string, left: LineKind): string[] {
  const kept = diffTexts(before, after).hunks.flatMap((hunk) => hunk.lines);
  return kept.filter((line) => line.kind !== left).map((line) => line.text);
}

test("a line that is replaced is shown removed, then added, with its neighbours", () => {
  const diff = diffTexts("one\ntwo\nthree\n", "one\n2\nthree\n");
  expect(shown(diff)).toEqual([" one", "-two", "+2", " three"]);
  expect([diff.added, diff.removed]).toEqual([1, 1]);
});

test("a new file is all added, one that is gone all removed, the same has no hunks", () => {
  expect(shown(diffTexts("", "a\nb"))).toEqual(["+a", "+b"]);
  expect(shown(diffTexts("a\nb", ""))).toEqual(["-a", "-b"]);
  expect(diffTexts("a\nb", "a\nb").hunks).toEqual([]);
});

test("lines far from any change are left out, and counted", () => {
  const lines = Array.from({ length: 40 }, (_, at) => `line ${at}`);
  const changed = lines.map((line, at) => (at === 20 ? "changed" : line));
  const diff = diffTexts(lines.join("\n"), changed.join("\n"));
  expect(diff.hunks).toHaveLength(1);
  expect(diff.hunks[0]?.skipped).toBe(17);
  expect(diff.skipped).toBe(16);
  expect(diff.hunks[0]?.lines[0]).toEqual({ kind: "same", text: "line 17", before: 18, after: 18 });
});

test("what differs within a line is marked", () => {
  const [removed, added] = diffTexts("const size = 10;", "const size = 12;").hunks[0]!.lines;
  expect(removed?.text.slice(...(removed.changed ?? []))).toBe("0");
  expect(added?.text.slice(...(added.changed ?? []))).toBe("2");
});

test("whatever the texts are, both can be read back from the diff", () => {
  let seed = 7;
  const chance = (below: number) => (seed = (seed * 16807) % 2147483647) % below;
  for (let round = 0; round < 300; round++) {
    const text = () => Array.from({ length: chance(12) }, () => "abc"[chance(3)]);
    const [before, after] = [text(), text()];
    const [a, b] = [before.join("\n"), after.join("\n")];
    if (a === b) continue;
    const diff = diffTexts(a, b);
    const left = diff.hunks.reduce((sum, hunk) => sum + hunk.skipped, diff.skipped);
    expect(side(a, b, "added").length + left).toBe(before.length);
    expect(side(a, b, "removed").length + left).toBe(after.length);
    if (left === 0) {
      expect(side(a, b, "added")).toEqual(before);
      expect(side(a, b, "removed")).toEqual(after);
    }
  }
});

test("texts that have nothing in common are simply replaced, which takes no time", () => {
  const many = (word: string) => Array.from({ length: 20_000 }, (_, at) => `${word} ${at}`).join("\n");
  expect(diffTexts(many("a"), many("b")).added).toBe(20_000);
});
