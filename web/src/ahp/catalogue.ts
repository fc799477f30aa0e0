/** The list of sessions: asked for once for each connection, then kept up to date by what the host tells. */

import { computed, signal } from "@preact/signals";
import type { Notification, SessionSummary, URI } from "./wire";

/** What never changes of a session, whatever a notification says. */
const FIXED = new Set(["resource", "provider", "createdAt"]);

type Entries = Map<URI, SessionSummary>;

export class Catalogue {
  #entries = signal<ReadonlyMap<URI, SessionSummary> | undefined>(undefined);
  /** What has come of the list that is on its way, and what was told meanwhile: the list may be older than that. */
  #coming: { entries: Entries; told: Notification[] } | undefined;
  /** There was a whole list. */
  #isWhole = false;

  readonly sessions = computed(() => {
    const entries = this.#entries.value;
    return entries && [...entries.values()].sort(byChange);
  });

  /** The list is being asked for. */
  expect(): void {
    this.#coming = { entries: new Map(), told: [] };
  }

  /** A page of the list is here. Until there was a whole list, every page is shown as it comes. */
  load(items: readonly SessionSummary[], isLast: boolean): void {
    const { entries, told } = (this.#coming ??= { entries: new Map(), told: [] });
    for (const item of items) if (!entries.has(item.resource)) entries.set(item.resource, item);
    if (isLast) this.#coming = undefined;
    else if (this.#isWhole) return;
    const shown: Entries = new Map(entries);
    for (const notification of told) change(shown, notification);
    this.#isWhole ||= isLast;
    this.#entries.value = shown;
  }

  take(notification: Notification): void {
    this.#coming?.told.push(notification);
    const entries = this.#entries.peek();
    if (!entries) return;
    const changed: Entries = new Map(entries);
    if (change(changed, notification)) this.#entries.value = changed;
  }
}

/** Times are all written alike, so they compare as they are. */
export function byChange(one: SessionSummary, other: SessionSummary): number {
  if (one.modifiedAt === other.modifiedAt) return 0;
  return one.modifiedAt < other.modifiedAt ? 1 : -1;
}

/** Change the list as a notification says. Returns whether it did. */
function change(entries: Entries, { name, params }: Notification): boolean {
  switch (name) {
    case "root/sessionAdded":
      entries.set(params.summary.resource, params.summary);
      return true;
    case "root/sessionRemoved":
      return entries.delete(params.session);
    case "root/sessionSummaryChanged": {
      const old = entries.get(params.session);
      if (old) entries.set(params.session, merge(old, params.changes));
      return old !== undefined;
    }
  }
}

/** Lay changes over a summary; null takes a field away. */
function merge(old: SessionSummary, changes: object): SessionSummary {
  const made = { ...old } as Record<string, unknown>;
  for (const [key, value] of Object.entries(changes)) {
    if (FIXED.has(key)) continue;
    if (value === null) delete made[key];
    else made[key] = value;
  }
  return made as unknown as SessionSummary;
}
