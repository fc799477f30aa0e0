/** The list of sessions: asked for once for each connection, then kept up to date by what the host tells. */

import { computed, signal } from "@preact/signals";
import type { ProtocolNotification, SessionSummary, URI } from "./wire";

/** What never changes of a session, whatever a notification says. */
const FIXED = new Set(["resource", "provider", "createdAt"]);

export class Catalogue {
  #entries = signal<ReadonlyMap<URI, SessionSummary> | undefined>(undefined);
  /** What was told while the list was on its way: it may be older than that. */
  #told: ProtocolNotification[] | undefined;

  readonly sessions = computed(() => {
    const entries = this.#entries.value;
    return entries && [...entries.values()].sort((one, other) => other.modifiedAt - one.modifiedAt);
  });

  /** The list is being asked for. */
  expect(): void {
    this.#told = [];
  }

  /** The list is here. */
  load(items: readonly SessionSummary[]): void {
    const told = this.#told ?? [];
    this.#told = undefined;
    this.#entries.value = new Map(items.map((item) => [item.resource, item]));
    told.forEach((notification) => this.take(notification));
  }

  take(notification: ProtocolNotification): void {
    this.#told?.push(notification);
    const entries = this.#entries.peek();
    if (!entries) return;
    const changed = new Map(entries);
    switch (notification.type) {
      case "notify/sessionAdded":
        changed.set(notification.summary.resource, notification.summary);
        break;
      case "notify/sessionRemoved":
        changed.delete(notification.session);
        break;
      case "notify/sessionSummaryChanged": {
        const old = changed.get(notification.session);
        if (!old) return;
        changed.set(notification.session, merge(old, notification.changes));
        break;
      }
      default:
        return;
    }
    this.#entries.value = changed;
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
