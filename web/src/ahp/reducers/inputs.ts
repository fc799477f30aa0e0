/** Questions of the agent: parts of the running turn, open until they are answered. */

import type { ActionOf, ChatState, InputRequestResponsePart, ResponsePart } from "../wire";
import { Status } from "../wire";
import { pick, put, replaceAt } from "./records";
import { refresh, statusOf } from "./status";

/** Questions that are asked again keep their answers, unless they bring their own. */
export function inputRequested(state: ChatState, { request }: ActionOf<"chat/inputRequested">): ChatState {
  const turn = state.activeTurn;
  if (!turn) return state;
  const found = openPart(state, request.id);
  const kept = found ? pick(found.part.request, "answers") : {};
  const part = { ...found?.part, kind: "inputRequest", request: { ...kept, ...put(request, {}) } } as const;
  const responseParts = found
    ? replaceAt<ResponsePart>(turn.responseParts, found.place, part)
    : [...turn.responseParts, part];
  const asked = { ...state, activeTurn: { ...turn, responseParts } };
  return { ...asked, status: statusOf(asked) & ~Status.IsRead };
}

export function inputAnswerChanged(
  state: ChatState,
  { requestId, questionId, answer }: ActionOf<"chat/inputAnswerChanged">,
): ChatState {
  return change(state, requestId, (part) => withAnswers(part, { [questionId]: answer }));
}

export function inputCompleted(
  state: ChatState,
  { requestId, response, answers = {} }: ActionOf<"chat/inputCompleted">,
): ChatState {
  const changed = change(state, requestId, (part) => ({ ...withAnswers(part, answers), response }));
  return changed === state ? state : refresh(changed);
}

function withAnswers(part: InputRequestResponsePart, more: object): InputRequestResponsePart {
  const answers = put(part.request.answers ?? {}, more);
  const request = put(part.request, { answers: Object.keys(answers).length ? answers : null });
  return { ...part, request };
}

function openPart(
  state: ChatState,
  id: string,
): { place: number; part: InputRequestResponsePart } | undefined {
  const parts = state.activeTurn?.responseParts ?? [];
  const place = parts.findIndex((part) => isOpen(part) && part.request.id === id);
  return place < 0 ? undefined : { place, part: parts[place] as InputRequestResponsePart };
}

function isOpen(part: ResponsePart): part is InputRequestResponsePart {
  return part.kind === "inputRequest" && (part.response === undefined || part.response === null);
}

function change(
  state: ChatState,
  id: string,
  how: (part: InputRequestResponsePart) => InputRequestResponsePart,
): ChatState {
  const found = openPart(state, id);
  const turn = state.activeTurn;
  if (!found || !turn) return state;
  const responseParts = replaceAt<ResponsePart>(turn.responseParts, found.place, how(found.part));
  return { ...state, activeTurn: { ...turn, responseParts } };
}
