/** Full-text search: the host finds sessions, which the list shows in addition to those with matching titles. */
import { signal } from "@preact/signals";
import { client } from "../../ahp";
import type { URI } from "../../ahp/wire";

const PAUSE_MS = 200;
const MIN_LENGTH = 2;

export interface Contents {
  /** Excerpts, by session. */
  readonly excerpts: ReadonlyMap<URI, string>;
  /** The status of the search: running, incomplete, or failed. */
  readonly note: string;
}

const NOTHING: Contents = { excerpts: new Map(), note: "" };
let timer: ReturnType<typeof setTimeout> | undefined;
let asked = 0;

/** The results of the last search. */
export const contents = signal<Contents>(NOTHING);

/** Search for a text once typing pauses. Earlier results stay until then. */
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
