/** The choices for a new session: an agent, its model, a folder, and options as the host resolves them. */
import { useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { client } from "../../ahp";
import type {
  AgentInfo,
  JsonObject,
  ModelSelection,
  Params,
  Result,
  SessionModelInfo,
  URI,
} from "../../ahp/wire";
import { modelConfig, modelsOf } from "../conversation/modelpicker";
import { toastError } from "../parts/toasts";
import { keep, kept } from "../route";

type Resolved = Result<"resolveSessionConfig">;

/** The current choices, and functions that change them. */
export interface Choices {
  readonly agents: readonly AgentInfo[];
  readonly agent: AgentInfo;
  chooseAgent(provider: string): void;
  readonly models: readonly SessionModelInfo[];
  readonly model: SessionModelInfo | undefined;
  readonly modelValues: JsonObject;
  chooseModel(id: string, values?: JsonObject): void;
  readonly folder: URI | undefined;
  chooseFolder(uri: URI | undefined): void;
  readonly config: Config;
  /** The model that answers, as messages name it. */
  readonly selection: ModelSelection | undefined;
  /** Everything else, as sent to the host. */
  readonly params: Omit<Params<"createSession">, "channel">;
}

type Config = ReturnType<typeof useConfig>;

/** Manage the choices for a new session. The agent is remembered for the next visit. */
export function useChoices(agents: readonly [AgentInfo, ...AgentInfo[]]): Choices {
  const provider = useSignal(kept("agent"));
  const chosen = useSignal<{ id: string; values: JsonObject } | undefined>(undefined);
  const folder = useSignal<URI | undefined>(undefined);
  const agent = agents.find((one) => one.provider === provider.value) ?? agents[0];
  const config = useConfig(agent.provider, folder.value);
  const models = modelsOf(agent.provider);
  const model = models.find((one) => one.id === chosen.value?.id) ?? models[0];
  const modelValues = chosen.value?.values ?? {};
  const isSet = Object.keys(modelValues).length > 0;
  return {
    agents,
    agent,
    chooseAgent: (name) => {
      provider.value = name;
      chosen.value = undefined;
      keep("agent", name);
    },
    models,
    model,
    modelValues,
    chooseModel: (id, values = {}) => (chosen.value = { id, values }),
    folder: folder.value,
    chooseFolder: (uri) => (folder.value = uri),
    config,
    selection: model && { id: model.id, ...(isSet && { config: modelConfig(modelValues) }) },
    params: {
      provider: agent.provider,
      ...(folder.value && { workingDirectories: [folder.value] }),
      ...(config.values && { config: config.values }),
    },
  };
}

/** The options of an agent as the host resolves them, again after each choice; only the newest answer counts. */
function useConfig(provider: string, folder: URI | undefined) {
  const resolved = useSignal<Resolved | undefined>(undefined);
  const values = useSignal<JsonObject | undefined>(undefined);
  const newest = useRef(0);
  // Until the host answers for this agent, the signals hold the options of the previous one.
  const owner = useRef(provider);
  const isOwn = owner.current === provider;
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
      owner.current = provider;
      const isEmpty = Object.keys(answer.schema.properties).length === 0;
      resolved.value = isEmpty ? undefined : answer;
      values.value = isEmpty ? undefined : answer.values;
    } catch (error) {
      if (mine === newest.current) toastError(error, "The options of this agent cannot be read");
    }
  };
  useEffect(() => void resolve(undefined), [provider]);
  useEffect(() => {
    if (isOwn && values.value) void resolve(values.value);
  }, [folder]);
  // Read even when they are not shown: only what reads a signal is rendered again when it changes.
  const current = { resolved: resolved.value, values: values.value };
  return {
    ...(isOwn ? current : { resolved: undefined, values: undefined }),
    change: (next: JsonObject) => {
      values.value = next;
      void resolve(next);
    },
    suggest: async (property: string, query: string) =>
      (await client.request("sessionConfigCompletions", { ...question(values.value), property, query }))
        .items,
  };
}
