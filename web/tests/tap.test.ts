import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { bytesOf, FrameTap } from "../src/ahp/tap";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const settle = () => vi.advanceTimersByTime(250);

test("bytes are counted as UTF-8 has them", () => {
  for (const text of ["", "plain", "zwölf", "…", "🙂 and 🙃", "\ud800 alone"]) {
    expect(bytesOf(text)).toBe(new TextEncoder().encode(text).length);
  }
});

test("frames are kept in order, with what was sent and what happened", () => {
  const tap = new FrameTap();
  tap.note("open");
  tap.message("out", "ä");
  tap.message("in", "{}");
  expect(tap.frames()).toEqual([]);
  settle();
  expect(tap.frames().map(({ n, kind, text, size }) => [n, kind, text, size])).toEqual([
    [1, "note", "open", 0],
    [2, "out", "ä", 2],
    [3, "in", "{}", 2],
  ]);
  expect(tap.totals).toEqual({ in: 1, out: 1, bytesIn: 2, bytesOut: 2 });
});

test("many frames that come together are told as one change", () => {
  const tap = new FrameTap();
  const before = tap.version.value;
  for (let n = 0; n < 1000; n++) tap.message("in", "x");
  settle();
  expect(tap.version.value).toBe(before + 1);
  expect(tap.frames()).toHaveLength(1000);
});

test("the oldest go when there are too many, or they are too large; the newest stays", () => {
  const tap = new FrameTap();
  for (let n = 0; n < 11_000; n++) tap.message("in", "x");
  settle();
  expect(tap.frames()).toHaveLength(10_000);
  expect(tap.frames().at(-1)?.n).toBe(11_000);
  const large = "y".repeat(3_000_000);
  for (let n = 0; n < 4; n++) tap.message("in", large);
  settle();
  expect(tap.frames().map(({ n }) => n)).toEqual([11_003, 11_004]);
  tap.message("in", "z".repeat(9_000_000));
  settle();
  expect(tap.frames().map(({ n }) => n)).toEqual([11_005]);
  tap.clear();
  expect(tap.frames()).toEqual([]);
  expect(tap.totals.in).toBe(11_005);
});

test("tokens are masked, whatever they are made of", () => {
  const tap = new FrameTap();
  const params = { resource: "https://r", token: 'se"cr\\et' };
  tap.message("out", JSON.stringify({ jsonrpc: "2.0", id: 1, method: "authenticate", params }));
  settle();
  const [frame] = tap.frames();
  expect(frame?.text).not.toContain("cr");
  expect(JSON.parse(frame!.text).params).toEqual({ resource: "https://r", token: "***" });
});
