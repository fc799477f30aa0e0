/** Keyboard shortcuts: one table, for handling them and for showing them. */
import { signal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { client } from "../ahp";
import { chatOf, isDefaultChat, neighbourOf, NEW_CHAT } from "./conversation/chats";
import { elapsed } from "./conversation/times";
import { isOffered } from "./panels";
import { Dialog } from "./parts/dialog";
import { arrival, drawer, goTo, goToNew, isNarrow, panel, route, togglePanel } from "./route";
import { filterSessions } from "./sessions/summaries";
import { toggleTheme } from "./theme";

interface Shortcut {
  readonly keys: readonly string[];
  readonly does: string;
  readonly run?: () => void;
}

/** Whether the list of shortcuts is shown. */
export const showsShortcuts = signal(false);

function focus(selector: string): void {
  document.querySelector<HTMLElement>(selector)?.focus();
}

function step(by: number): void {
  const sessions = filterSessions(client.sessions.value ?? [], { text: "", archived: false });
  const here = route.value.view === "session" ? route.value.uri : undefined;
  const at = sessions.findIndex((one) => one.resource === here);
  const next = sessions[at < 0 ? 0 : at + by];
  if (!next) return;
  arrival.quiet = next.resource; // so that stepping through sessions can continue
  goTo(next.resource);
}

function stepChat(by: 1 | -1): void {
  const at = route.value;
  if (at.view !== "session") return;
  const watch = client.session(at.uri);
  const session = watch.state.value;
  watch.close();
  const shown = session && chatOf(session, at.chat);
  const next = shown !== undefined ? neighbourOf(session!, shown, by) : undefined;
  if (next === undefined) return;
  arrival.quiet = at.uri; // as with sessions
  goTo(at.uri, isDefaultChat(session!, next) ? undefined : next);
}

function stop(): void {
  const at = route.value;
  if (at.view !== "session" || at.chat === NEW_CHAT) return;
  const session = client.session(at.uri);
  const uri = session.state.value && chatOf(session.state.value, at.chat);
  session.close();
  if (uri === undefined) return;
  const chat = client.chat(uri);
  const turn = chat.state.value?.activeTurn;
  chat.close();
  if (!turn) return;
  const duration = elapsed(turn.startedAt);
  void client.dispatch(uri, { type: "chat/turnCancelled", turnId: turn.id, duration }).catch(() => undefined);
}

/** Without one, the key only closes what is open. */
function toggleTerminals(): void {
  if (isOffered("terminals", client.withheld.value, panel.value)) togglePanel("terminals");
}

/** Plain keys count only outside of text fields. */
const SHORTCUTS: readonly Shortcut[] = [
  { keys: ["?"], does: "Show this list", run: () => (showsShortcuts.value = true) },
  { keys: ["n"], does: "New session", run: goToNew },
  {
    keys: ["/"],
    does: "Search sessions",
    run: () => ((drawer.value = isNarrow.value), requestAnimationFrame(() => focus("#session-search"))),
  },
  { keys: ["j"], does: "Next session", run: () => step(1) },
  { keys: ["k"], does: "Previous session", run: () => step(-1) },
  { keys: ["l"], does: "Next chat of the session", run: () => stepChat(1) },
  { keys: ["h"], does: "Previous chat of the session", run: () => stepChat(-1) },
  { keys: ["i"], does: "Write a message", run: () => focus(".composer textarea") },
  { keys: ["t"], does: "Go to the conversation, to scroll", run: () => focus(".transcript") },
  {
    keys: ["a"],
    does: "Go to what needs an answer",
    run: () => focus(".confirmation .buttons button, .asking input, .asking textarea"),
  },
  { keys: ["1"], does: "Changes", run: () => togglePanel("changes") },
  { keys: ["2"], does: "Files", run: () => togglePanel("files") },
  { keys: ["3"], does: "Terminals", run: toggleTerminals },
  { keys: ["4"], does: "The wire", run: () => togglePanel("wire") },
  { keys: ["d"], does: "Light or dark", run: toggleTheme },
  { keys: ["Esc"], does: "Leave a field; then stop the turn; close what is open" },
  { keys: ["Shift", "Esc"], does: "Leave a terminal" },
  { keys: ["Enter"], does: "Send; while a turn runs, queue" },
  { keys: ["Ctrl", "Enter"], does: "Say it into the running turn" },
  { keys: ["Shift", "Enter"], does: "New line" },
];

const byKey = new Map(
  SHORTCUTS.flatMap((one) => (one.run && one.keys.length === 1 ? [[one.keys[0]!, one.run]] : [])),
);

function isTyping(target: EventTarget | null): boolean {
  return (
    target instanceof HTMLElement &&
    (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName))
  );
}

/** Listen for shortcuts while the page is there. */
export function useShortcuts(): void {
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (
        event.defaultPrevented ||
        event.ctrlKey ||
        event.metaKey ||
        event.altKey ||
        document.querySelector("dialog[open]")
      )
        return;
      if (event.key === "Escape") return escape(event);
      if (isTyping(event.target)) return;
      const run = byKey.get(event.key);
      if (!run) return;
      event.preventDefault();
      run();
    };
    addEventListener("keydown", onKey);
    return () => removeEventListener("keydown", onKey);
  }, []);
}

function escape(event: KeyboardEvent): void {
  if (drawer.value) drawer.value = false;
  else if (isTyping(event.target) && (event.target as HTMLTextAreaElement).closest(".xterm") === null)
    (event.target as HTMLElement).blur();
  else stop();
}

/** List the shortcuts. */
export function ShortcutsDialog() {
  return (
    <Dialog title="Keyboard shortcuts" onClose={() => (showsShortcuts.value = false)}>
      <dl class="shortcuts">
        {SHORTCUTS.map(({ keys, does }) => (
          <>
            <dt>
              {keys.map((key) => (
                <kbd key={key}>{key}</kbd>
              ))}
            </dt>
            <dd>{does}</dd>
          </>
        ))}
      </dl>
      <p class="faint">Single keys count where nothing is being typed: press Esc to leave a field.</p>
    </Dialog>
  );
}
