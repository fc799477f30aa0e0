/** Which model answers, and how it is set. A choice during a turn counts from the next one on. */
import { useSignal } from "@preact/signals";
import { client } from "../../ahp";
import type { JsonObject, ModelSelection, SessionModelInfo, SessionState } from "../../ahp/wire";
import { SchemaForm } from "../forms/schemaform";
import { Dialog } from "../parts/dialog";
import { Icon } from "../parts/icon";
import { useAccess } from "./access";

/** The models of an agent that may be chosen. */
export function modelsOf(provider: string): readonly SessionModelInfo[] {
  const agent = client.root.value?.agents.find((one) => one.provider === provider);
  return agent?.models.filter((one) => one.policyState !== "disabled") ?? [];
}

/** Give settings of a model as the wire has them: texts. */
export function modelConfig(values: JsonObject): Record<string, string> {
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, String(value)]));
}

/** Choose the model of a session. */
export function ModelPicker({ state }: { state: SessionState }) {
  const { act } = useAccess();
  const { provider, model } = state.summary;
  const models = modelsOf(provider);
  const isOpen = useSignal(false);
  if (models.length === 0) return null;
  const current = models.find((one) => one.id === model?.id) ?? models[0]!;
  const choose = (chosen: ModelSelection) => act({ type: "session/modelChanged", model: chosen });
  return (
    <>
      <select
        class="model"
        aria-label="Model"
        title={state.activeTurn ? "Counts from the next turn on" : "Model"}
        value={current.id}
        onChange={(event) => choose({ id: event.currentTarget.value })}
      >
        {models.map((one) => (
          <option key={one.id} value={one.id}>
            {one.name}
          </option>
        ))}
      </select>
      {current.configSchema && (
        <button
          type="button"
          class="quiet"
          aria-label="Settings of the model"
          title="Settings of the model"
          onClick={() => (isOpen.value = true)}
        >
          <Icon name="settings" />
        </button>
      )}
      {isOpen.value && current.configSchema && (
        <Dialog title={current.name} class="narrow" onClose={() => (isOpen.value = false)}>
          <SchemaForm
            schema={current.configSchema}
            values={model?.config ?? {}}
            onChange={(values) => choose({ id: current.id, config: modelConfig(values) })}
          />
          <footer>
            <button type="button" class="primary" onClick={() => (isOpen.value = false)}>
              Done
            </button>
          </footer>
        </Dialog>
      )}
    </>
  );
}
