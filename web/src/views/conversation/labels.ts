/** The names of attachments. */

const KEYS = ["label", "displayName", "name", "title", "uri", "type"];

/** Return the name of an attachment, even of an unknown kind. */
export function labelOf(attachment: object): string {
  const fields = attachment as Readonly<Record<string, unknown>>;
  const names = KEYS.map((key) => fields[key]);
  const found = names.find((name) => typeof name === "string" && name !== "");
  return typeof found === "string" ? found : "something";
}
