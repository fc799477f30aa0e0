/** The dock beside the conversation: changes, files, terminals, the wire. Its width is the user's. */
import { useEffect, useRef } from "preact/hooks";
import { useSession } from "../ahp";
import type { SessionState } from "../ahp/wire";
import { ChangesPanel } from "./diffs/changespanel";
import { FilesPanel } from "./files/filespanel";
import { Icon } from "./parts/icon";
import { Separator } from "./parts/separator";
import { Tabs } from "./parts/tabs";
import { DOCK_WIDTH, dockWidth, type Panel, PANELS, panel as open, route, sideWidth } from "./route";
import { TerminalsPanel } from "./terminals/terminalspanel";
import { WirePanel } from "./wire/wirepanel";

const NAMES: Readonly<Record<Panel, string>> = {
  changes: "Changes",
  files: "Files",
  terminals: "Terminals",
  wire: "Wire",
};
const NARROWEST = 320;

/** Show the dock. */
export function Dock({ panel }: { panel: Panel }) {
  const session = route.value.view === "session" ? route.value.uri : undefined;
  const dock = useRef<HTMLElement>(null);
  useFocusInside(dock);
  return (
    <aside
      ref={dock}
      class="dock"
      aria-label="Panels"
      style={{ width: `${widthOf(dockWidth.value)}px` }}
      onKeyDown={(event) => {
        if (event.key === "Escape" && !event.defaultPrevented && panel !== "terminals")
          open.value = undefined;
      }}
    >
      <Separator
        label="Width of the panel"
        edge="left"
        width={widthOf(dockWidth.value)}
        min={NARROWEST}
        max={widest()}
        onMove={(width) => (dockWidth.value = width)}
        onReset={() => (dockWidth.value = DOCK_WIDTH)}
      />
      <div class="bar">
        <div class="grow">
          <Tabs
            label="Panels"
            panel="dock-panel"
            chosen={panel}
            onChoose={(id) => (open.value = id as Panel)}
            tabs={PANELS.map((id) => ({ id, label: NAMES[id] }))}
          />
        </div>
        <button
          type="button"
          class="quiet"
          aria-label="Close the panel"
          title="Close"
          onClick={() => (open.value = undefined)}
        >
          <Icon name="close" />
        </button>
      </div>
      <div id="dock-panel" class="panel" role="tabpanel" aria-labelledby={`dock-panel-${panel}`}>
        {session ? <OfSession uri={session} panel={panel} /> : <Inside panel={panel} state={undefined} />}
      </div>
    </aside>
  );
}

let isFirst = true;

/** Whoever opens the dock is in it, and back where they were when it closes. Not when the page begins with it. */
function useFocusInside(dock: { readonly current: HTMLElement | null }): void {
  useEffect(() => {
    const before = document.activeElement;
    if (!isFirst || before !== document.body)
      dock.current?.querySelector<HTMLElement>("[aria-selected=true]")?.focus();
    isFirst = false;
    return () => {
      if (before instanceof HTMLElement && before.isConnected) before.focus();
    };
  }, []);
}

function OfSession({ uri, panel }: { uri: string; panel: Panel }) {
  return <Inside panel={panel} state={useSession(uri).state.value} />;
}

function Inside({ panel, state }: { panel: Panel; state: SessionState | undefined }) {
  const summary = state?.summary;
  switch (panel) {
    case "changes":
      return <ChangesPanel summary={summary} />;
    case "files":
      return <FilesPanel folder={summary?.workingDirectory} />;
    case "terminals":
      return <TerminalsPanel folder={summary?.workingDirectory} />;
    case "wire":
      return (
        <WirePanel session={summary?.resource} text={state?.turns.at(-1)?.userMessage.text ?? "Hello"} />
      );
  }
}

function widthOf(wanted: number): number {
  return Math.max(NARROWEST, Math.min(wanted, widest()));
}

/** What is left for it beside the list and a conversation that can still be read. */
function widest(): number {
  return Math.max(NARROWEST, innerWidth - sideWidth.value - NARROWEST);
}
