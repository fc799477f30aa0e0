/** Times as the protocol writes them, by the clock of this browser. */

/** The time now. */
export function timeNow(): string {
  return new Date().toISOString();
}

/** How many milliseconds ago a time was; 0 if it is in the future or invalid. */
export function elapsed(since: string, now = Date.now()): number {
  return Math.max(0, now - Date.parse(since)) || 0;
}
