/** The bar above a session: what it is called and how it stands, and what can be opened beside it. */
import { useSignal } from "@preact/signals";
import type { SessionState } from "../../ahp/wire";
import { Icon, type IconName } from "../parts/icon";
import { Menu } from "../parts/menu";
import { drawer, type Panel, panel, togglePanel } from "../route";
import { fork, rename, sessionMenu } from "../sessions/actions";
import { StatusBadge } from "../sessions/badge";
import { agentName } from "../sessions/list";
import { baseName } from "../sessions/summaries";
import { SettingsDialog } from "./settings";

/** Show the bar; without a session, only what does not need one. */
export function Header({ state }: { state: SessionState | undefined }) {
  const settings = useSignal(false);
  const summary = state?.summary;
  const lastTurn = state?.turns.at(-1);
  return (
    <header class="bar">
      <DrawerButton />
      <div class="grow heading">
        <h1 title={summary?.title}>
          {summary ? (
            <button
              type="button"
              class="quiet title-button"
              title="Rename"
              dir="auto"
              onClick={() => void rename(summary)}
            >
              {summary.title || "Untitled"}
            </button>
          ) : (
            "agenthost"
          )}
        </h1>
        {summary && <StatusBadge status={summary.status} />}
        {summary?.activity && <span class="activity faint">{summary.activity}</span>}
        {summary && !summary.activity && (
          <span class="activity faint only-wide">
            {[agentName(summary.provider), summary.workingDirectory && baseName(summary.workingDirectory)]
              .filter(Boolean)
              .join(" · ")}
          </span>
        )}
      </div>
      <PanelButtons changes={summary?.diffs?.length ?? 0} />
      {summary && (
        <Menu
          label="Session"
          items={[
            { label: "Settings", icon: "settings", run: () => (settings.value = true) },
            {
              label: "Fork",
              icon: "fork",
              disabled: !lastTurn,
              run: () => lastTurn && void fork(summary, lastTurn.id),
            },
            ...sessionMenu(summary),
          ]}
        />
      )}
      {settings.value && state && <SettingsDialog state={state} onClose={() => (settings.value = false)} />}
    </header>
  );
}

/** Draws the list of sessions over the page, where that is narrow. */
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

/** Open and close what stands beside the conversation. */
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
      {BUTTONS.map(({ name, label, icon }) => (
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
