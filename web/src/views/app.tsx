/** The page: its layout. */
import { useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { client } from "../ahp";
import { Banner } from "./banner";
import { Conversation } from "./conversation/conversation";
import { Dock } from "./dock";
import { Locked } from "./locked";
import { Questions } from "./parts/dialog";
import { Icon } from "./parts/icon";
import { Separator } from "./parts/separator";
import { toast, Toasts } from "./parts/toasts";
import { drawer, goToNew, isNarrow, panel, route, sideRange, sideWidth } from "./route";
import { SessionList } from "./sessions/list";
import { StartView } from "./sessions/start";
import { Tokens } from "./sessions/tokens";
import { ShortcutsDialog, showsShortcuts, useShortcuts } from "./shortcuts";
import { isDark, toggleTheme } from "./theme";

/** Show the page. */
export function App() {
  useShortcuts();
  useRefusals();
  const isLocked = client.connection.value.phase === "locked";
  const main = useRef<HTMLElement>(null);
  return (
    <div class={drawer.value ? "page drawn" : "page"}>
      <a
        class="skip"
        href="#main"
        onClick={(event) => {
          event.preventDefault(); // the address has the current place
          main.current?.focus();
        }}
      >
        Skip to the session
      </a>
      <Banner />
      <Side />
      <div class="shade" onClick={() => (drawer.value = false)} />
      <main
        ref={main}
        id="main"
        class="main"
        tabIndex={-1}
        inert={isNarrow.value && (drawer.value || panel.value !== undefined)}
      >
        <Main />
      </main>
      {panel.value && <Dock key="dock" panel={panel.value} />}
      {isLocked && <Locked />}
      {showsShortcuts.value && <ShortcutsDialog />}
      <Tokens />
      <Questions />
      <Toasts />
    </div>
  );
}

function Main() {
  const at = route.value;
  if (at.view === "session") return <Conversation uri={at.uri} chat={at.chat} />;
  return <StartView />;
}

function Side() {
  const side = useRef<HTMLElement>(null);
  useEffect(() => {
    if (drawer.value) side.current?.querySelector<HTMLElement>("button")?.focus();
  }, [drawer.value]);
  const { min, max, usual } = sideRange();
  const width = Math.max(min, Math.min(sideWidth.value, max));
  return (
    <nav
      ref={side}
      id="sessions"
      class="side"
      aria-label="Sessions"
      style={{ width: `${width}px` }}
      onKeyDown={(event) => {
        if (event.key === "Escape" && drawer.value) drawer.value = false;
      }}
    >
      <div class="bar">
        <button type="button" class="grow" onClick={goToNew}>
          <Icon name="add" /> New session
        </button>
        <ThemeButton />
        <button
          type="button"
          class="quiet"
          aria-label="Keyboard shortcuts"
          title="Keyboard shortcuts (?)"
          onClick={() => (showsShortcuts.value = true)}
        >
          <Icon name="keyboard" />
        </button>
        <button
          type="button"
          class="quiet only-narrow"
          aria-label="Close the list"
          onClick={() => (drawer.value = false)}
        >
          <Icon name="close" />
        </button>
      </div>
      <SessionList />
      <Separator
        label="Width of the list"
        edge="right"
        width={width}
        min={min}
        max={max}
        onMove={(wanted) => (sideWidth.value = wanted)}
        onReset={() => (sideWidth.value = usual)}
      />
    </nav>
  );
}

function ThemeButton() {
  const label = isDark.value ? "Light theme" : "Dark theme";
  return (
    <button type="button" class="quiet" aria-label={label} title={label} onClick={toggleTheme}>
      <Icon name={isDark.value ? "sun" : "moon"} />
    </button>
  );
}

/** Refusals are shown in the words of the host. */
function useRefusals(): void {
  const last = useSignal(0);
  const refusals = client.refusals.value;
  useEffect(() => {
    for (const refusal of refusals) {
      if (refusal.id <= last.value) continue;
      last.value = refusal.id;
      toast(refusal.reason, "error");
    }
  }, [refusals]);
}
