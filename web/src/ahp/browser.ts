/** The client's environment in a browser: WebSocket, storage, and when to reconnect. */

import type { Withheld } from "./api";
import type { Surroundings } from "./client";

const ID = "agenthost.clientId";
const KEY = "agenthost.key";

/** The subprotocol in use, and one that only carries the key, which therefore is in no address. */
const SUBPROTOCOL = "ahp";
const BEARER = "bearer.";

/** The prefix of the server's token in the address that it prints: behind `#`, which is never sent. */
const TOKEN = "#tkn=";

/** The key to send along, if there is one. */
export function keyOf(): string | undefined {
  return read("session", KEY) ?? read("local", KEY);
}

export function browserSurroundings(): Surroundings {
  takeToken();
  const newId = () => {
    const id = `page-${uuid()}`;
    write("session", ID, id);
    return id;
  };
  return {
    // Kept for the tab, so that after a reload it still holds its terminals.
    clientId: read("session", ID) ?? newId(),
    newId,
    uuid,
    ...(globalThis.navigator ? { locale: navigator.language } : {}),
    heed,
    open,
    probe,
    withheld,
    keepKey(key, where) {
      write(where === "tab" ? "session" : "local", KEY, key);
      write(where === "tab" ? "local" : "session", KEY, undefined);
    },
    dropKey() {
      write("session", KEY, undefined);
      write("local", KEY, undefined);
    },
  };
}

/** Remove the token from the address, so that only the tab keeps it. Returns whether there was one. */
function takeToken(): boolean {
  if (!globalThis.location?.hash.startsWith(TOKEN)) return false;
  write("session", KEY, location.hash.slice(TOKEN.length));
  history.replaceState(null, "", location.pathname + location.search);
  return true;
}

function heed(retry: () => void, check: () => void): void {
  // An address with a token, in a tab that shows the page already, loads nothing.
  addEventListener("hashchange", () => {
    if (takeToken()) retry();
  });
  addEventListener("online", retry);
  // Another tab has got a key for this browser.
  addEventListener("storage", ({ key, newValue }) => {
    if (key === KEY && newValue !== null) retry();
  });
  document.addEventListener("visibilitychange", () => {
    if (document.hidden) return;
    retry();
    check(); // the machine may have slept
  });
}

function open(): WebSocket {
  const url = new URL("/ahp", location.href);
  url.protocol = url.protocol.replace("http", "ws");
  const key = keyOf();
  return new WebSocket(url, key ? [SUBPROTOCOL, BEARER + key] : []);
}

function askAccess(key: string | undefined): Promise<Response> {
  const headers = key ? { Authorization: `Bearer ${key}` } : {};
  return fetch("/access", { headers, cache: "no-store" });
}

async function withheld(): Promise<Withheld> {
  try {
    const answer = await askAccess(keyOf());
    return ((await answer.json()) as { withheld?: Withheld }).withheld ?? {};
  } catch {
    return {}; // the host refuses what is not allowed
  }
}

async function probe(): Promise<"granted" | "missing" | "wrong" | "away"> {
  const key = keyOf();
  try {
    const answer = await askAccess(key);
    const { isGranted } = (await answer.json()) as { isGranted?: boolean };
    if (isGranted) return "granted";
    if (!answer.ok) return "away";
    return key ? "wrong" : "missing";
  } catch {
    return "away";
  }
}

/** `crypto.randomUUID` exists only in secure contexts: not over plain HTTP from another machine. */
function uuid(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  bytes[6] = (bytes[6]! & 0x0f) | 0x40;
  bytes[8] = (bytes[8]! & 0x3f) | 0x80;
  const hex = Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");
}

// A browser may forbid any access to storage; then nothing is kept.

type Place = "session" | "local";

function read(place: Place, name: string): string | undefined {
  try {
    return storage(place).getItem(name) ?? undefined;
  } catch {
    return undefined;
  }
}

function write(place: Place, name: string, value: string | undefined): void {
  try {
    if (value === undefined) storage(place).removeItem(name);
    else storage(place).setItem(name, value);
  } catch {
    // as above
  }
}

function storage(place: Place): Storage {
  return place === "session" ? sessionStorage : localStorage;
}
