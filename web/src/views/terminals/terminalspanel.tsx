/** Terminals in tabs: made, watched, typed into, taken over and ended. */
import { lazy, Suspense } from "preact/compat";
import { client, useTerminal } from "../../ahp";
import type { TerminalInfo, URI } from "../../ahp/wire";
import { whyNoTerminals } from "../panels";
import { confirm } from "../parts/dialog";
import { Icon } from "../parts/icon";
import { Tabs } from "../parts/tabs";
import { toastError } from "../parts/toasts";
import { chosenTerminal } from "../route";
import { holderOf, nextClaim } from "./claims";

const Screen = lazy(() => import("./screen"));
const PANEL = "terminal-panel";

/** Show the terminals; a new one begins in this folder. */
export function TerminalsPanel({ folder }: { folder: URI | undefined }) {
  const why = whyNoTerminals(client.withheld.value);
  if (why)
    return (
      <div class="empty">
        <p>{why}</p>
      </div>
    );
  return <Terminals folder={folder} />;
}

function Terminals({ folder }: { folder: URI | undefined }) {
  const terminals = client.root.value?.terminals ?? [];
  const shown = terminals.find((one) => one.resource === chosenTerminal.value) ?? terminals.at(-1);
  const create = async () => {
    try {
      chosenTerminal.value = await client.createTerminal(folder ? { cwd: folder } : {});
    } catch (error) {
      toastError(error, "There is no new terminal");
    }
  };
  return (
    <>
      <div class="subbar">
        <Tabs
          label="Terminals"
          panel={PANEL}
          chosen={shown?.resource}
          onChoose={(uri) => (chosenTerminal.value = uri)}
          tabs={terminals.map((one) => ({ id: one.resource, label: <TabLabel terminal={one} /> }))}
        />
        <button type="button" class="quiet" aria-label="New terminal" title="New terminal" onClick={create}>
          <Icon name="add" />
        </button>
      </div>
      <div id={PANEL} class="panel" role="tabpanel" aria-label={shown?.title ?? "Terminals"}>
        {shown ? (
          <Open key={shown.resource} info={shown} />
        ) : (
          <div class="empty">
            <p>No terminal is open.</p>
            <button type="button" onClick={create}>
              <Icon name="terminal" /> New terminal
            </button>
          </div>
        )}
      </div>
    </>
  );
}

function TabLabel({ terminal }: { terminal: TerminalInfo }) {
  const { lifecycle } = terminal;
  return (
    <>
      <span class="tab-title">{terminal.title}</span>
      {lifecycle.status === "exited" && (
        <span class={lifecycle.exitCode ? "tag bad" : "tag"}>{lifecycle.exitCode ?? "ended"}</span>
      )}
    </>
  );
}

function Open({ info }: { info: TerminalInfo }) {
  const watch = useTerminal(info.resource);
  const state = watch.state.value;
  const terminal = info.resource;
  const claim = state?.claim ?? info.claim;
  const next = nextClaim(claim);
  const lifecycle = state?.lifecycle ?? info.lifecycle;
  const hasEnded = lifecycle.status === "exited";
  const dispose = async () => {
    const is =
      hasEnded ||
      (await confirm("Close terminal?", `What runs in “${info.title}” is ended.`, "Close terminal"));
    if (is)
      await client
        .request("disposeTerminal", { channel: terminal })
        .catch((error: unknown) => toastError(error));
  };
  return (
    <>
      <div class="terminal-bar">
        <span class="faint grow">
          {holderOf(claim)}
          {state?.cols && ` · ${state.cols}×${state.rows}`}
          {hasEnded && (
            <strong class={lifecycle.exitCode ? "problem" : ""} role="status">
              {" "}
              · ended{lifecycle.exitCode === undefined ? "" : ` with code ${lifecycle.exitCode}`}
            </strong>
          )}
        </span>
        {next && !hasEnded && (
          <button
            type="button"
            class="small"
            onClick={() =>
              void client
                .dispatch(terminal, { type: "terminal/claimed", claim: next.claim })
                .catch(() => undefined)
            }
          >
            {next.label}
          </button>
        )}
        <button
          type="button"
          class="quiet small"
          onClick={() => void client.dispatch(terminal, { type: "terminal/cleared" }).catch(() => undefined)}
        >
          Clear
        </button>
        <button type="button" class="quiet small" onClick={dispose}>
          <Icon name="remove" /> Close
        </button>
      </div>
      <Suspense fallback={<p class="faint pad">Loading</p>}>{state && <Screen watch={watch} />}</Suspense>
    </>
  );
}
