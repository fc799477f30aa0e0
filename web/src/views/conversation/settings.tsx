/** The settings of a session, and which of them can still be changed. */
import { client } from "../../ahp";
import type {
  ChildCustomization,
  Customization,
  JsonObject,
  SessionClientAction,
  SessionState,
  URI,
} from "../../ahp/wire";
import { SchemaForm } from "../forms/schemaform";
import { Copy } from "../parts/copy";
import { Dialog } from "../parts/dialog";
import { summaryOf } from "../sessions/summaries";

interface SettingsDialogProps {
  uri: URI;
  session: SessionState;
  onClose: () => void;
}

/** Show them in a dialog. */
export function SettingsDialog({ uri, session, onClose }: SettingsDialogProps) {
  const { config, serverTools, activeClients, customizations, workingDirectories } = session;
  const madeAt = summaryOf(client.sessions.value, uri)?.createdAt;
  const act = (action: SessionClientAction) => void client.dispatch(uri, action).catch(() => undefined);
  return (
    <Dialog title="Session" onClose={onClose}>
      <dl class="facts">
        <dt>URI</dt>
        <dd class="mono">
          {uri} <Copy text={uri} label="Copy URI" />
        </dd>
        <dt>Folder</dt>
        <dd class="mono">{workingDirectories?.join(", ") || "the workspace"}</dd>
        {madeAt && (
          <>
            <dt>Made</dt>
            <dd>{new Date(madeAt).toLocaleString()}</dd>
          </>
        )}
        <dt>Tools</dt>
        <dd>{serverTools?.map((tool) => tool.title ?? tool.name).join(", ") || "none"}</dd>
        {activeClients.length > 0 && (
          <>
            <dt>Active clients</dt>
            <dd>
              <ul>
                {activeClients.map(({ clientId, displayName, tools }) => (
                  <li key={clientId}>
                    {displayName ?? clientId}: {tools.map((tool) => tool.name).join(", ") || "no tools"}
                  </li>
                ))}
              </ul>
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
              act({ type: "session/configChanged", config: changes(config.values, values) })
            }
          />
        </section>
      )}
      {customizations?.map((one) => (
        <Customized key={one.id} one={one} act={act} />
      ))}
    </Dialog>
  );
}

function changes(before: JsonObject, after: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(after).filter(([name, value]) => before[name] !== value));
}

interface CustomizedProps {
  one: Customization | ChildCustomization;
  act: (action: SessionClientAction) => void;
}

/** A customization with its switch, and those inside it. */
function Customized({ one, act }: CustomizedProps) {
  const isOn = isEnabled(one);
  const { tag, words } = standingOf(one);
  const children = "children" in one ? one.children : undefined;
  return (
    <div class="customized">
      <label class="choice">
        <input
          type="checkbox"
          checked={isOn}
          onChange={() =>
            act({
              type: "session/customizationToggled",
              id: one.id,
              enablement: [{ kind: "session", enabled: !isOn }],
            })
          }
        />
        <span>
          {one.name} {tag && <span class="tag">{tag}</span>}
          {words && <small class="faint">{words}</small>}
        </span>
      </label>
      {children?.map((child) => (
        <Customized key={child.id} one={child} act={act} />
      ))}
    </div>
  );
}

/** The most specific decision counts; without one it is on. */
export function isEnabled(one: Customization | ChildCustomization): boolean {
  if (one.type === "plugin" || one.type === "mcpServer") return one.enablement?.[0]?.enabled ?? true;
  return one.enabled ?? true;
}

function standingOf(one: Customization | ChildCustomization): { tag?: string; words?: string } {
  if (one.type === "mcpServer") {
    const words = one.state.kind === "error" ? one.state.error.message : undefined;
    return { tag: one.state.kind, ...(words && { words }) };
  }
  if (one.type === "plugin" || one.type === "directory") {
    const words = one.load && "message" in one.load ? one.load.message : undefined;
    return { ...(one.load && { tag: one.load.kind }), ...(words && { words }) };
  }
  return { tag: one.type, ...(one.description && { words: one.description }) };
}
