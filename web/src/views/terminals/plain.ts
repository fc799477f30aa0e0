/** Terminal output as plain text, for previews: no escapes, and overwritten lines in their final form. */

const ESCAPES =
  /\u001b(?:\][^\u0007\u001b]*(?:\u0007|\u001b\\)?|[PX^_][^\u001b]*(?:\u001b\\)?|\[[0-?]*[ -/]*[@-~]?|[ -/]*[0-~]?)/g;

/** Return the last lines of raw output. */
export function lastLines(output: string, count: number): string {
  const plain = output.slice(-20_000).replace(ESCAPES, "");
  const lines = plain.split("\n").map(overwritten);
  while (lines.length > 1 && lines.at(-1) === "") lines.pop();
  return lines.slice(-count).join("\n");
}

function overwritten(line: string): string {
  const pieces = line.replace(/\r+$/, "").split("\r");
  let shown = "";
  for (const piece of pieces) shown = piece + shown.slice(piece.length);
  return shown.replace(/[\u0000-\u0008\u000b-\u001f\u007f]/g, "");
}
