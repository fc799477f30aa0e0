/** The list of sessions: fetched once per connection, then kept up to date by notifications. */

import { computed, signal } from "@preact/signals";
import type { Notification, SessionSummary, URI } from "./wire";

/** The fields of a summary that never change, whatever a notification says. */
const FIXED = new Set(["resource", "provider", "createdAt"]);

type Entries = Map<URI, SessionSummary>;

export class Catalogue {
  #entries = signal<ReadonlyMap<URI, SessionSummary> | undefined>(undefined);
  /** The pages of a list that is being fetched, and the notifications since: the list may be older than those. */
  #coming: { entries: Entries; told: Notification[] } | undefined;
  /** Whether there was a complete list. */
  #isWhole = false;

  readonly sessions = computed(() => {
    const entries = this.#entries.value;
    return entries && [...entries.values()].sort(byChange);
  });

  /** Start to fetch the list. */
  expect(): void {
    this.#coming = { entries: new Map(), told: [] };
  }

  /** Add a page of the list. Until there was a complete list, every page is shown as it arrives. */
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

/** Merge changes into a summary; null removes a field. */
function merge(old: SessionSummary, changes: object): SessionSummary {
  const made = { ...old } as Record<string, unknown>;
  for (const [key, value] of Object.entries(changes)) {
    if (FIXED.has(key)) continue;
    if (value === null) delete made[key];
    else made[key] = value;
  }
  return made as unknown as SessionSummary;
}
