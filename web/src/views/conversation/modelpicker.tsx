/** The choice of the model and its settings. It counts from the next message on. */
import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { client } from "../../ahp";
import type {
  ChatState,
  JsonObject,
  JsonPrimitive,
  ModelSelection,
  SessionModelInfo,
  SessionState,
} from "../../ahp/wire";
import { SchemaForm } from "../forms/schemaform";
import { Dialog } from "../parts/dialog";
import { Icon } from "../parts/icon";
import { useAccess } from "./access";
import { isDefaultChat } from "./chats";
import { choiceOf, firstOffered, isOffered, isSameModel, lastModel, notedModel } from "./models";

/** The models of an agent that may be chosen. */
export function modelsOf(provider: string): readonly SessionModelInfo[] {
  const agent = client.root.value?.agents.find((one) => one.provider === provider);
  return agent?.models.filter(isOffered) ?? [];
}

/** Return the settings of a model for the wire: no lists, no objects. */
export function modelConfig(values: JsonObject): Record<string, JsonPrimitive> {
  const plain = (value: JsonObject[string]) =>
    typeof value === "object" && value !== null ? JSON.stringify(value) : (value as JsonPrimitive);
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, plain(value)]));
}

/** Return the model that the next message of a chat goes to. */
export function nextModel(session: SessionState, chat: ChatState, key: string): ModelSelection | undefined {
  // The host's note is about the default chat.
  const noted = isDefaultChat(session, chat.resource) ? notedModel(session._meta) : undefined;
  return firstOffered(modelsOf(session.provider), choiceOf(key).value, noted, lastModel(chat));
}

/** Choose the model of the next message. */
export function ModelPicker({ session, chat }: { session: SessionState; chat: ChatState }) {
  const { key } = useAccess();
  const models = modelsOf(session.provider);
  const isOpen = useSignal(false);
  const last = lastModel(chat);
  useEffect(() => {
    // A message was sent with it: from now on, the choices of others count as well.
    if (last && isSameModel(choiceOf(key).value, last)) choiceOf(key).value = undefined;
  }, [key, last]);
  const model = nextModel(session, chat, key);
  const current = models.find((one) => one.id === model?.id);
  if (!current) return null;
  const choose = (chosen: ModelSelection) => (choiceOf(key).value = chosen);
  return (
    <>
      <select
        class="model"
        aria-label="Model"
        title={chat.activeTurn ? "Counts from the next turn on" : "Model"}
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
