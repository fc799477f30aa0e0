/** Where a session is made: the agent, its model, its options, the folder, and what to say first. */
import { useSignal } from "@preact/signals";
import { useEffect, useId, useRef } from "preact/hooks";
import { client } from "../../ahp";
import type { AgentInfo, JsonObject, Result, URI } from "../../ahp/wire";
import { DrawerButton, PanelButtons } from "../conversation/header";
import { modelConfig, modelsOf } from "../conversation/modelpicker";
import { SchemaForm } from "../forms/schemaform";
import { Markdown } from "../markdown/markdown";
import { Icon } from "../parts/icon";
import { toastError } from "../parts/toasts";
import { goTo } from "../route";
import { setFirstMessage } from "./firstmessage";
import { FolderPicker } from "./folderpicker";
import { askForTokens } from "./tokens";

type Resolved = Result<"resolveSessionConfig">;

/** Show the form. */
export function CreateView() {
  const agents = client.root.value?.agents ?? [];
  return (
    <>
      <header class="bar">
        <DrawerButton />
        <h1 class="grow">New session</h1>
        <PanelButtons changes={0} />
      </header>
      <div class="scroll grow">
        {agents.length > 0 ? (
          <CreateForm agents={agents} />
        ) : (
          <div class="empty">There are no agents here.</div>
        )}
      </div>
    </>
  );
}

function CreateForm({ agents }: { agents: readonly AgentInfo[] }) {
  const provider = useSignal(agents[0]?.provider ?? "");
  const model = useSignal<{ id: string; config: JsonObject } | undefined>(undefined);
  const folder = useSignal<URI | undefined>(undefined);
  const message = useSignal("");
  const isMaking = useSignal(false);
  const config = useConfig(provider.value, folder.value);
  const id = useId();
  const field = useRef<HTMLTextAreaElement>(null);
  useEffect(() => field.current?.focus(), []);
  const models = modelsOf(provider.value);
  const chosenModel = models.find((one) => one.id === model.value?.id) ?? models[0];
  const create = async () => {
    if (isMaking.value) return;
    isMaking.value = true;
    const params = {
      provider: provider.value,
      ...(chosenModel && {
        model: { id: chosenModel.id, ...(model.value && { config: modelConfig(model.value.config) }) },
      }),
      ...(folder.value && { workingDirectory: folder.value }),
      ...(config.values && { config: config.values }),
    };
    try {
      const uri = await askForTokens(() => client.createSession(params));
      if (message.value.trim()) setFirstMessage(uri, { text: message.value.trim() });
      goTo(uri);
    } catch (error) {
      toastError(error, "The session was not made");
    } finally {
      isMaking.value = false;
    }
  };
  return (
    <form
      class="create stack"
      onSubmit={(event) => {
        event.preventDefault();
        void create();
      }}
    >
      <AgentChoice
        agents={agents}
        chosen={provider.value}
        onChoose={(name) => ((provider.value = name), (model.value = undefined))}
      />
      {chosenModel && (
        <div class="field">
          <label for={`${id}-model`}>Model</label>
          <select
            id={`${id}-model`}
            value={chosenModel.id}
            onChange={(event) => (model.value = { id: event.currentTarget.value, config: {} })}
          >
            {models.map((one) => (
              <option key={one.id} value={one.id}>
                {one.name}
              </option>
            ))}
          </select>
        </div>
      )}
      {chosenModel?.configSchema && (
        <SchemaForm
          key={chosenModel.id}
          schema={chosenModel.configSchema}
          values={model.value?.config ?? {}}
          onChange={(values) => (model.value = { id: chosenModel.id, config: values })}
        />
      )}
      <FolderField folder={folder.value} onChange={(uri) => (folder.value = uri)} />
      {config.resolved && (
        <SchemaForm
          schema={config.resolved.schema}
          values={config.values ?? {}}
          onChange={config.change}
          suggest={config.suggest}
        />
      )}
      <div class="field">
        <label for={`${id}-message`}>First message</label>
        <textarea
          id={`${id}-message`}
          ref={field}
          rows={3}
          placeholder="May be left empty"
          value={message.value}
          onInput={(event) => (message.value = event.currentTarget.value)}
          onKeyDown={(event) => {
            if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
            event.preventDefault();
            void create();
          }}
        />
      </div>
      <div class="buttons">
        <button type="submit" class="primary" disabled={isMaking.value}>
          <Icon name="add" /> Create session
        </button>
      </div>
    </form>
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

/** The options of an agent as the host resolves them, again after each choice; only the newest answer counts. */
function useConfig(provider: string, folder: URI | undefined) {
  const resolved = useSignal<Resolved | undefined>(undefined);
  const values = useSignal<JsonObject | undefined>(undefined);
  const newest = useRef(0);
  const question = (config: JsonObject | undefined) => ({
    provider,
    ...(folder && { workingDirectory: folder }),
    ...(config && { config }),
  });
  const resolve = async (config: JsonObject | undefined) => {
    const mine = ++newest.current;
    try {
      const answer = await client.request("resolveSessionConfig", question(config));
      if (mine !== newest.current) return;
      const isEmpty = Object.keys(answer.schema.properties).length === 0;
      resolved.value = isEmpty ? undefined : answer;
      values.value = isEmpty ? undefined : answer.values;
    } catch (error) {
      if (mine === newest.current) toastError(error, "The options of this agent cannot be read");
    }
  };
  useEffect(() => void resolve(undefined), [provider]);
  useEffect(() => {
    if (values.value) void resolve(values.value);
  }, [folder]);
  return {
    resolved: resolved.value,
    values: values.value,
    change: (next: JsonObject) => {
      values.value = next;
      void resolve(next);
    },
    suggest: async (property: string, query: string) =>
      (await client.request("sessionConfigCompletions", { ...question(values.value), property, query }))
        .items,
  };
}
