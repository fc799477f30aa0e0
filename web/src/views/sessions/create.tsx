/** The whole form of a new session: the agent, its model with its settings, the folder, and the agent's options. */
import { useSignal } from "@preact/signals";
import { useId } from "preact/hooks";
import { client } from "../../ahp";
import type { AgentInfo, URI } from "../../ahp/wire";
import { SchemaForm } from "../forms/schemaform";
import { Markdown } from "../markdown/markdown";
import { Icon } from "../parts/icon";
import type { Choices } from "./choices";
import { FolderPicker } from "./folderpicker";

interface CreateFormProps {
  id: string;
  choices: Choices;
  isMaking: boolean;
  onCreate: () => void;
}

/** Show the form. */
export function CreateForm({ id, choices, isMaking, onCreate }: CreateFormProps) {
  const { model, config } = choices;
  return (
    <form
      id={id}
      class="create stack"
      aria-label="Options of the session"
      onSubmit={(event) => {
        event.preventDefault();
        onCreate();
      }}
    >
      <AgentChoice agents={choices.agents} chosen={choices.agent.provider} onChoose={choices.chooseAgent} />
      {model && <ModelField choices={choices} chosen={model.id} />}
      {model?.configSchema && (
        <SchemaForm
          key={model.id}
          schema={model.configSchema}
          values={choices.modelValues}
          onChange={(values) => choices.chooseModel(model.id, values)}
        />
      )}
      <FolderField folder={choices.folder} onChange={choices.chooseFolder} />
      {config.resolved && (
        <SchemaForm
          schema={config.resolved.schema}
          values={config.values ?? {}}
          onChange={config.change}
          suggest={config.suggest}
        />
      )}
      <div class="buttons">
        <button type="submit" disabled={isMaking}>
          <Icon name="add" /> Create session
        </button>
        <small class="faint">The message may be left empty.</small>
      </div>
    </form>
  );
}

function ModelField({ choices, chosen }: { choices: Choices; chosen: string }) {
  const id = useId();
  return (
    <div class="field">
      <label for={id}>Model</label>
      <select id={id} value={chosen} onChange={(event) => choices.chooseModel(event.currentTarget.value)}>
        {choices.models.map((one) => (
          <option key={one.id} value={one.id}>
            {one.name}
          </option>
        ))}
      </select>
    </div>
  );
}

function AgentChoice({
  agents,
  chosen,
  onChoose,
}: {
  agents: readonly AgentInfo[];
  chosen: string;
  onChoose: (provider: string) => void;
}) {
  const name = useId();
  return (
    <fieldset class="field">
      <legend>Agent</legend>
      <div class="agents">
        {agents.map((agent) => (
          <label key={agent.provider} class="card agent">
            <input
              type="radio"
              name={name}
              checked={agent.provider === chosen}
              onChange={() => onChoose(agent.provider)}
            />
            <span>
              <strong>{agent.displayName}</strong>
              <small class="faint">
                <Markdown text={agent.description} />
              </small>
            </span>
          </label>
        ))}
      </div>
    </fieldset>
  );
}

function FolderField({
  folder,
  onChange,
}: {
  folder: URI | undefined;
  onChange: (uri: URI | undefined) => void;
}) {
  const isOpen = useSignal(false);
  const id = useId();
  return (
    <div class="field">
      <label for={id}>Folder</label>
      <div class="row">
        <input
          id={id}
          type="text"
          class="mono"
          placeholder="The workspace"
          value={folder ?? ""}
          onChange={(event) => onChange(event.currentTarget.value.trim() || undefined)}
        />
        <button type="button" onClick={() => (isOpen.value = true)}>
          <Icon name="folder" /> Browse
        </button>
      </div>
      {isOpen.value && (
        <FolderPicker
          start={folder ?? client.welcome.value?.defaultDirectory}
          onClose={() => (isOpen.value = false)}
          onChoose={(uri) => {
            onChange(uri);
            isOpen.value = false;
          }}
        />
      )}
    </div>
  );
}
