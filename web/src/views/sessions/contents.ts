/** Search in what was said: the host looks, and finds sessions that the list shows beside those with fitting titles. */
import { signal } from "@preact/signals";
import { client } from "../../ahp";
import type { URI } from "../../ahp/wire";

const PAUSE_MS = 200;
const MIN_LENGTH = 2;

export interface Contents {
  /** Some of what was said, by session. */
  readonly excerpts: ReadonlyMap<URI, string>;
  /** What to say about the search: that it goes on, has not seen everything, or failed. */
  readonly note: string;
}

const NOTHING: Contents = { excerpts: new Map(), note: "" };
let timer: ReturnType<typeof setTimeout> | undefined;
let asked = 0;

/** What was found for the text that was searched for last. */
export const contents = signal<Contents>(NOTHING);

/** Search for a text, once nothing more of it is typed. What was found before stays until then. */
export function searchContents(text: string): void {
  const sought = text.trim();
  const number = ++asked;
  clearTimeout(timer);
  if (sought.length < MIN_LENGTH) {
    contents.value = NOTHING;
    return;
  }
  timer = setTimeout(async () => {
    contents.value = { ...contents.value, note: "Searching messages" };
    const found = await ask(sought);
    if (number === asked) contents.value = found; // else more was typed meanwhile
  }, PAUSE_MS);
}

async function ask(text: string): Promise<Contents> {
  try {
    const { _meta } = await client.request("listSessions", { filter: { agenthost: { text } } });
    const ours = _meta?.["agenthost"] as { excerpts: Record<URI, string>; isComplete: boolean } | undefined;
    if (!ours) return NOTHING; // a host that does not know this lists everything
    const excerpts = new Map(Object.entries(ours.excerpts));
    return { excerpts, note: ours.isComplete ? "" : "Older messages were not searched." };
  } catch (error) {
    const words = error instanceof Error ? error.message : String(error);
    return { ...NOTHING, note: `Messages were not searched: ${words}` };
  }
}
