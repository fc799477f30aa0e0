/** The dock next to the conversation: changes, files, terminals, the wire. Users can resize it. */
import { useEffect, useRef } from "preact/hooks";
import { client, useChat, useSession } from "../ahp";
import type { ChatState, SessionState, URI } from "../ahp/wire";
import { chatOf } from "./conversation/chats";
import { ChangesPanel } from "./diffs/changespanel";
import { FilesPanel } from "./files/filespanel";
import { isOffered } from "./panels";
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
  const at = route.value.view === "session" ? route.value : undefined;
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
            tabs={PANELS.filter((id) => isOffered(id, client.withheld.value, panel)).map((id) => ({
              id,
              label: NAMES[id],
            }))}
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
        {at ? <OfSession uri={at.uri} chat={at.chat} panel={panel} /> : <Inside panel={panel} />}
      </div>
    </aside>
  );
}

let isFirst = true;

/** Opening the dock moves the focus into it, and closing it moves the focus back. Not on the first load. */
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

interface OfSessionProps {
  uri: URI;
  /** The chat of the address. */
  chat: URI | undefined;
  panel: Panel;
}

function OfSession({ uri, chat: wanted, panel }: OfSessionProps) {
  const session = useSession(uri).state.value;
  const chat = useChat(session && chatOf(session, wanted))?.state.value;
  return <Inside panel={panel} {...(session && { uri, session })} {...(chat && { chat })} />;
}

interface InsideProps {
  panel: Panel;
  uri?: URI;
  session?: SessionState;
  chat?: ChatState;
}

function Inside({ panel, uri, session, chat }: InsideProps) {
  const folder = (chat?.workingDirectories ?? session?.workingDirectories)?.[0];
  switch (panel) {
    case "changes":
      return <ChangesPanel session={session} chat={chat} />;
    case "files":
      return <FilesPanel folder={folder} />;
    case "terminals":
      return <TerminalsPanel folder={folder} />;
    case "wire":
      return <WirePanel session={uri} text={chat?.turns.at(-1)?.message.text ?? "Hello"} />;
  }
}

function widthOf(wanted: number): number {
  return Math.max(NARROWEST, Math.min(wanted, widest()));
}

/** The width that is left next to the list and a readable conversation. */
function widest(): number {
  return Math.max(NARROWEST, innerWidth - sideWidth.value - NARROWEST);
}
