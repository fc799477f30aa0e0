/** Roving focus: a list is one stop of the Tab key, and arrows move inside of it. */

/** Move the focus among the elements that match, if this key does that. Returns whether it did. */
export function rove(
  event: KeyboardEvent,
  selector: string,
  keys: "vertical" | "horizontal" = "vertical",
): boolean {
  const within = event.currentTarget as HTMLElement;
  const items = [...within.querySelectorAll<HTMLElement>(selector)];
  const at = items.findIndex(
    (item) => item === document.activeElement || item.contains(document.activeElement),
  );
  const next = target(event.key, at, items.length, keys);
  if (next === undefined) return false;
  event.preventDefault();
  items[next]?.focus();
  return true;
}

function target(key: string, at: number, count: number, keys: "vertical" | "horizontal"): number | undefined {
  if (count === 0) return undefined;
  const [back, forth] = keys === "vertical" ? ["ArrowUp", "ArrowDown"] : ["ArrowLeft", "ArrowRight"];
  if (key === forth) return (at + 1) % count;
  if (key === back) return (at <= 0 ? count : at) - 1;
  if (key === "Home") return 0;
  if (key === "End") return count - 1;
  return undefined;
}
