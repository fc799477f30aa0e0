/** Times as the protocol writes them, by the clock of this browser. */

/** The time now. */
export function timeNow(): string {
  return new Date().toISOString();
}

/** How many milliseconds ago a time was; none, if it is yet to come, or no time. */
export function elapsed(since: string, now = Date.now()): number {
  return Math.max(0, now - Date.parse(since)) || 0;
}
