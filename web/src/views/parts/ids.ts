/** New ids, for turns and messages. `crypto.randomUUID` is missing in insecure contexts. */
export function newId(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(12)), (byte) =>
    byte.toString(16).padStart(2, "0"),
  ).join("");
}
