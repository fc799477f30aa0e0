/** The current place in the page. It is in the address, behind `#`, so that it can be bookmarked and shared. */
import { computed, effect, signal } from "@preact/signals";

export type Route =
  | { readonly view: "home" }
  | { readonly view: "new" }
  /** Without a chat, the one that the session begins with. */
  | { readonly view: "session"; readonly uri: string; readonly chat?: string };

export const PANELS = ["changes", "files", "terminals", "wire"] as const;
export type Panel = (typeof PANELS)[number];

const hash = signal(location.hash);
addEventListener("hashchange", () => (hash.value = location.hash));

/** The current place. */
export const route = computed<Route>(() => readRoute(hash.value));

/** Read the part of an address behind `#`. */
export function readRoute(text: string): Route {
  const [view, session, chat] = text.replace(/^#\/?/, "").split("/", 3);
  if (view === "new") return { view: "new" };
  if (view !== "session" || !session) return { view: "home" };
  try {
    const uri = decodeURIComponent(session);
    return { view: "session", uri, ...(chat && { chat: decodeURIComponent(chat) }) };
  } catch {
    return { view: "home" };
  }
}

/** The address of a session, or of one of its chats. */
export function hrefOf(uri: string, chat?: string): string {
  const session = `#/session/${encodeURIComponent(uri)}`;
  return chat === undefined ? session : `${session}/${encodeURIComponent(chat)}`;
}

/** Go to a session, or to one of its chats. */
export function goTo(uri: string, chat?: string): void {
  location.hash = hrefOf(uri, chat);
}

/** The session that was reached by stepping: it does not move the focus to the composer. */
export const arrival: { quiet: string | undefined } = { quiet: undefined };

/** How often a new session was requested: each time, the field takes the focus. */
export const beginnings = signal(0);

/** Go to the form for a new session. */
export function goToNew(): void {
  location.hash = "#/new";
  beginnings.value++;
}

/** Go to the start. */
export function goHome(): void {
  location.hash = "#/";
}

// The dock next to the conversation

function kept(key: string): string | undefined {
  try {
    return localStorage.getItem(`agenthost.${key}`) ?? undefined;
  } catch {
    return undefined; // private windows may have none
  }
}

/** Keep a choice for the next visit, where the browser lets us. */
export function keep(key: string, value: string): void {
  try {
    localStorage.setItem(`agenthost.${key}`, value);
  } catch {
    // Then it is forgotten.
  }
}

const known = kept("panel");

/** Which panel is open next to the conversation; none, if undefined. */
export const panel = signal<Panel | undefined>(PANELS.find((one) => one === known && innerWidth >= 1100));
effect(() => keep("panel", panel.value ?? ""));

export const DOCK_WIDTH = 520;

/** How wide the dock is, in pixels. */
export const dockWidth = signal(Number(kept("dockWidth")) || DOCK_WIDTH);
effect(() => keep("dockWidth", String(dockWidth.value)));

const SIDE_WIDTH = 280;
const MIN_SIDE = 200;
const MAX_SIDE = 560;

/** How wide the list of sessions is, in pixels. */
export const sideWidth = signal(Number(kept("sideWidth")) || SIDE_WIDTH);
effect(() => keep("sideWidth", String(sideWidth.value)));

/** The limits of the width of the list in this window, and its default. */
export function sideRange(): { min: number; max: number; usual: number } {
  return { min: MIN_SIDE, max: Math.max(MIN_SIDE, Math.min(MAX_SIDE, innerWidth - 400)), usual: SIDE_WIDTH };
}

/** The terminal that is shown. */
export const chosenTerminal = signal<string | undefined>(undefined);

/** Open a terminal in the dock. */
export function openTerminal(uri: string): void {
  chosenTerminal.value = uri;
  panel.value = "terminals";
}

/** Open a panel, or close it if it is open. */
export function togglePanel(name: Panel): void {
  panel.value = panel.value === name ? undefined : name;
}

const narrowness = matchMedia("(max-width: 47.99rem)");

/** Whether the window is so narrow that only one thing fits. */
export const isNarrow = signal(narrowness.matches);
narrowness.addEventListener("change", () => (isNarrow.value = narrowness.matches));

/** Whether the list of sessions is open as a drawer, in a narrow window. */
export const drawer = signal(false);
effect(() => {
  hash.value; // navigating closes the drawer
  drawer.value = false;
});

export { kept };
