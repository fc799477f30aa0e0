/** The settings of a session: what it was made with, and what of it may still be changed. */
import { client } from "../../ahp";
import type { SessionState } from "../../ahp/wire";
import { SchemaForm } from "../forms/schemaform";
import { Copy } from "../parts/copy";
import { Dialog } from "../parts/dialog";

/** Show them in a dialog. */
export function SettingsDialog({ state, onClose }: { state: SessionState; onClose: () => void }) {
  const { summary, config, serverTools, activeClient, customizations } = state;
  const session = summary.resource;
  return (
    <Dialog title="Session" onClose={onClose}>
      <dl class="facts">
        <dt>URI</dt>
        <dd class="mono">
          {session} <Copy text={session} label="Copy URI" />
        </dd>
        <dt>Folder</dt>
        <dd class="mono">{summary.workingDirectory ?? "the workspace"}</dd>
        <dt>Made</dt>
        <dd>{new Date(summary.createdAt).toLocaleString()}</dd>
        <dt>Tools</dt>
        <dd>{serverTools?.map((tool) => tool.title ?? tool.name).join(", ") || "none"}</dd>
        {activeClient && (
          <>
            <dt>Active client</dt>
            <dd>
              {activeClient.displayName ?? activeClient.clientId}:{" "}
              {activeClient.tools.map((tool) => tool.name).join(", ") || "no tools"}
            </dd>
          </>
        )}
      </dl>
      {config && Object.keys(config.schema.properties).length > 0 && (
        <section class="stack" aria-label="Options">
          <SchemaForm
            schema={config.schema}
            values={config.values}
            isEditable={(property) => property.sessionMutable === true}
            onChange={(values) =>
              void client
                .dispatch({ type: "session/configChanged", session, config: changes(config.values, values) })
                .catch(() => undefined)
            }
          />
        </section>
      )}
      {customizations?.map(({ customization, enabled, status, statusMessage }) => (
        <label key={customization.uri} class="choice">
          <input
            type="checkbox"
            checked={enabled}
            onChange={() =>
              void client.dispatch({
                type: "session/customizationToggled",
                session,
                uri: customization.uri,
                enabled: !enabled,
              })
            }
          />
          <span>
            {customization.displayName} {status && <span class="tag">{status}</span>}
            <small class="faint">{statusMessage ?? customization.description}</small>
          </span>
        </label>
      ))}
    </Dialog>
  );
}

function changes(before: SessionState["_meta"] & object, after: SessionState["_meta"] & object) {
  return Object.fromEntries(Object.entries(after).filter(([name, value]) => before[name] !== value));
}
