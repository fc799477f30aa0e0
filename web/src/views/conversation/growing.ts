/** A field that is as tall as its text. */

const TALLEST = 240;

/** Make a field as tall as its text, up to a limit. */
export function grow(field: HTMLTextAreaElement | null): void {
  const holder = field?.parentElement;
  if (!field || !holder) return;
  // The field shrinks for a moment. Its container keeps its height, or everything above would move.
  holder.style.height = `${holder.offsetHeight}px`;
  field.style.height = "auto";
  field.style.height = `${Math.min(field.scrollHeight + 2, TALLEST)}px`;
  holder.style.height = "";
}
