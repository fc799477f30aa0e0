/** The bar above a session: its title, its status, and the panels. */
import { useSignal } from "@preact/signals";
import { client } from "../../ahp";
import type { ChatState, SessionState, URI } from "../../ahp/wire";
import { isOffered } from "../panels";
import { Icon, type IconName } from "../parts/icon";
import { Menu } from "../parts/menu";
import { drawer, type Panel, panel, togglePanel } from "../route";
import { chatMenu, rename, sessionMenu } from "../sessions/actions";
import { StatusBadge } from "../sessions/badge";
import { agentName } from "../sessions/list";
import { baseName } from "../sessions/summaries";
import { useChanges } from "./changesline";
import { SettingsDialog } from "./settings";

interface HeaderProps {
  uri?: URI;
  session?: SessionState;
  /** The chat that is shown. */
  chat?: ChatState;
}

/** Show the bar; without a session, only what does not need one. */
export function Header({ uri, session, chat }: HeaderProps) {
  if (uri === undefined || !session || !chat) {
    return (
      <header class="bar">
        <DrawerButton />
        <div class="grow heading">
          <h1>agenthost</h1>
        </div>
        <PanelButtons changes={0} />
      </header>
    );
  }
  return <OpenHeader uri={uri} session={session} chat={chat} />;
}

function OpenHeader({ uri, session, chat }: Required<HeaderProps>) {
  const settings = useSignal(false);
  const changes = useChanges({ uri, session, chat });
  const { title, status } = session;
  const named = { resource: uri, title, status };
  const activity = chat.activity || session.activity;
  const folder = session.workingDirectories?.[0];
  return (
    <header class="bar">
      <DrawerButton />
      <div class="grow heading">
        <h1 title={title}>
          <button
            type="button"
            class="quiet title-button"
            title="Rename"
            dir="auto"
            onClick={() => void rename(named)}
          >
            {title || "Untitled"}
          </button>
        </h1>
        <StatusBadge status={chat.status} />
        {activity ? (
          <span class="activity faint">{activity}</span>
        ) : (
          <span class="activity faint only-wide">
            {[agentName(session.provider), folder && baseName(folder)].filter(Boolean).join(" · ")}
          </span>
        )}
      </div>
      <PanelButtons changes={changes.files ?? 0} />
      <Menu
        label="Session"
        items={[
          { label: "Settings", icon: "settings", run: () => (settings.value = true) },
          ...chatMenu(uri, session, chat),
          ...sessionMenu(named),
        ]}
      />
      {settings.value && (
        <SettingsDialog uri={uri} session={session} onClose={() => (settings.value = false)} />
      )}
    </header>
  );
}

/** Opens the list of sessions as a drawer, in a narrow window. */
export function DrawerButton() {
  return (
    <button
      type="button"
      class="quiet only-narrow"
      aria-label="Sessions"
      aria-expanded={drawer.value}
      aria-controls="sessions"
      onClick={() => (drawer.value = true)}
    >
      <Icon name="menu" />
    </button>
  );
}

const BUTTONS: readonly { name: Panel; label: string; icon: IconName }[] = [
  { name: "changes", label: "Changes", icon: "diff" },
  { name: "files", label: "Files", icon: "folder" },
  { name: "terminals", label: "Terminals", icon: "terminal" },
  { name: "wire", label: "The wire", icon: "wire" },
];

/** Open and close the panels. */
export function PanelButtons({ changes }: { changes: number }) {
  return (
    <div class="panel-buttons" role="group" aria-label="Panels">
      <button
        type="button"
        class="quiet only-narrow"
        aria-label="Panels"
        aria-expanded={panel.value !== undefined}
        onClick={() => togglePanel("changes")}
      >
        <Icon name="panel" />
      </button>
      {BUTTONS.filter(({ name }) => isOffered(name, client.withheld.value)).map(({ name, label, icon }) => (
        <button
          key={name}
          type="button"
          class="quiet only-wide"
          aria-pressed={panel.value === name}
          title={label}
          onClick={() => togglePanel(name)}
        >
          <Icon name={icon} />
          <span class="unseen">{label}</span>
          {name === "changes" && changes > 0 && <span class="count"> {changes}</span>}
        </button>
      ))}
    </div>
  );
}
