/** Which model answers next: the choice made here, until a message was sent with it; otherwise the model that answered last. */
import { type Signal, signal } from "@preact/signals";
import type { ChatState, Meta, ModelSelection, SessionModelInfo } from "../../ahp/wire";

/** Where the host says which model answers messages that name none. */
const META = "agenthost.model";
/** Marks the model of an agent without a choice of models. */
const STAND_IN = "agenthost.standIn";

const choices = new Map<string, Signal<ModelSelection | undefined>>();

/** The choice for the next message of a chat, if there is one. It survives a reload. */
export function choiceOf(key: string): Signal<ModelSelection | undefined> {
  let choice = choices.get(key);
  if (!choice) {
    choice = signal(kept(key));
    choice.subscribe((model) => keep(key, model));
    choices.set(key, choice);
  }
  return choice;
}

function kept(key: string): ModelSelection | undefined {
  try {
    const text = sessionStorage.getItem(`model ${key}`);
    return text ? (JSON.parse(text) as ModelSelection) : undefined;
  } catch {
    return undefined;
  }
}

function keep(key: string, model: ModelSelection | undefined): void {
  try {
    if (model) sessionStorage.setItem(`model ${key}`, JSON.stringify(model));
    else sessionStorage.removeItem(`model ${key}`);
  } catch {
    // Then a reload forgets it.
  }
}

/** Return the model of the last message that named one. */
export function lastModel({ activeTurn, turns }: ChatState): ModelSelection | undefined {
  return activeTurn?.message.model ?? turns.findLast((turn) => turn.message.model)?.message.model;
}

/** Return the model that the host notes in the `_meta` of a session. */
export function notedModel(meta: Meta | undefined): ModelSelection | undefined {
  const found = meta?.[META] as Partial<ModelSelection> | undefined;
  return typeof found?.id === "string" ? (found as ModelSelection) : undefined;
}

/** Whether a model may be chosen. */
export function isOffered({ policyState, _meta }: SessionModelInfo): boolean {
  return policyState !== "disabled" && !_meta?.[STAND_IN];
}

/** Whether two selections are the same. */
export function isSameModel(one: ModelSelection | undefined, other: ModelSelection | undefined): boolean {
  const text = (model: ModelSelection | undefined) =>
    model && JSON.stringify([model.id, Object.entries(model.config ?? {}).sort()]);
  return text(one) === text(other);
}

/** Return the first of these that the agent has, or its default model; nothing if it has none. */
export function firstOffered(
  models: readonly SessionModelInfo[],
  ...wanted: readonly (ModelSelection | undefined)[]
): ModelSelection | undefined {
  const found = wanted.find((one) => models.some((model) => model.id === one?.id));
  return found ?? (models[0] && { id: models[0].id });
}
