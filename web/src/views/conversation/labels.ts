/** What attachments are called. */

const KEYS = ["label", "displayName", "name", "title", "uri", "type"];

/** Return what people call an attachment, also one of a kind that this page does not know. */
export function labelOf(attachment: object): string {
  const fields = attachment as Readonly<Record<string, unknown>>;
  const names = KEYS.map((key) => fields[key]);
  const found = names.find((name) => typeof name === "string" && name !== "");
  return typeof found === "string" ? found : "something";
}
