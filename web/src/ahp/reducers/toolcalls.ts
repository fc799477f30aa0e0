/** Tool calls: from one state to the next. Each new state is built anew, of the fields that it has. */

import type { Action, ResponsePart, SessionState, ToolCallResult, ToolCallState } from "../wire";
import { pick, put } from "./records";
import { refresh } from "./status";
import { matchingTurn } from "./turns";

type Of<Type extends Action["type"]> = Extract<Action, { type: Type }>;
type Status = ToolCallState["status"];
/** A call in any state, with any of the fields that calls have. */
type Call = Omit<ToolCallState, "status"> & { [key: string]: any };

const IDENTITY = ["toolCallId", "toolName", "displayName", "toolClientId", "_meta"];
const PARAMETERS = ["invocationMessage", "toolInput"];
const CONSENT = ["confirmed", "selectedOption"];
const RESULT: (keyof ToolCallResult)[] = [
  "success",
  "pastTenseMessage",
  "content",
  "structuredContent",
  "error",
];

export function toolCallStart(state: SessionState, action: Of<"session/toolCallStart">): SessionState {
  const turn = matchingTurn(state, action);
  if (!turn) return state;
  const part: ResponsePart = { kind: "toolCall", toolCall: build(action, "streaming", {}) };
  return { ...state, activeTurn: { ...turn, responseParts: [...turn.responseParts, part] } };
}

export function toolCallDelta(state: SessionState, action: Of<"session/toolCallDelta">): SessionState {
  return change(state, action, ["streaming"], (call) => {
    const partialInput = (call["partialInput"] ?? "") + action.content;
    const told = action.invocationMessage ?? call["invocationMessage"];
    return put(call, { partialInput, invocationMessage: told });
  });
}

export function toolCallReady(state: SessionState, action: Of<"session/toolCallReady">): SessionState {
  const changed = change(state, action, ["streaming", "running"], (call) =>
    action.confirmed
      ? build(call, "running", pick(action, "invocationMessage", "toolInput", "confirmed"))
      : build(
          call,
          "pending-confirmation",
          pick(action, "invocationMessage", "toolInput", "confirmationTitle", "edits", "editable", "options"),
        ),
  );
  return refresh(changed);
}

export function toolCallConfirmed(
  state: SessionState,
  action: Of<"session/toolCallConfirmed">,
): SessionState {
  const changed = change(state, action, ["pending-confirmation"], (call) => {
    const selected = selectedOption(call, action.selectedOptionId);
    if (!action.approved) {
      const reasons = pick(action, "reason", "reasonMessage", "userSuggestion");
      return build(call, "cancelled", { ...pick(call, ...PARAMETERS), ...reasons, ...selected });
    }
    const edited = action.editedToolInput ?? call["toolInput"];
    const told = put(pick(call, ...PARAMETERS), { toolInput: edited });
    return build(call, "running", { ...told, ...pick(action, "confirmed"), ...selected });
  });
  return refresh(changed);
}

function selectedOption(call: Call, id: string | undefined): Partial<Call> {
  const options: { id: string }[] = (id && call["options"]) || [];
  const selected = options.find((option) => option.id === id);
  return selected ? { selectedOption: selected } : {};
}

export function toolCallComplete(state: SessionState, action: Of<"session/toolCallComplete">): SessionState {
  const status = action.requiresResultConfirmation ? "pending-result-confirmation" : "completed";
  const changed = change(state, action, ["running", "pending-confirmation"], (call) => {
    // One that was never confirmed counts as one that needed no confirmation.
    const consent = call["status"] === "running" ? pick(call, ...CONSENT) : { confirmed: "not-needed" };
    return build(call, status, {
      ...pick(call, ...PARAMETERS),
      ...consent,
      ...pick(action.result, ...RESULT),
    });
  });
  return refresh(changed);
}

export function toolCallResultConfirmed(
  state: SessionState,
  action: Of<"session/toolCallResultConfirmed">,
): SessionState {
  const changed = change(state, action, ["pending-result-confirmation"], (call) =>
    action.approved
      ? build(call, "completed", pick(call, ...PARAMETERS, ...CONSENT, ...RESULT))
      : build(call, "cancelled", {
          ...pick(call, ...PARAMETERS, "selectedOption"),
          reason: "result-denied",
        }),
  );
  return refresh(changed);
}

export function toolCallContentChanged(
  state: SessionState,
  action: Of<"session/toolCallContentChanged">,
): SessionState {
  return change(state, action, ["running"], (call) => put(call, { content: action.content }));
}

/** Close a call that was open when its turn ended; other parts stay as they are. */
export function skip(part: ResponsePart): ResponsePart {
  if (part.kind !== "toolCall") return part;
  const call: Call = part.toolCall;
  if (call["status"] === "completed" || call["status"] === "cancelled") return part;
  const told =
    call["status"] === "streaming"
      ? { invocationMessage: call["invocationMessage"] ?? "" }
      : pick(call, ...PARAMETERS);
  return { kind: "toolCall", toolCall: build(call, "cancelled", { ...told, reason: "skipped" }) };
}

function build(identity: object, status: Status, fields: object): ToolCallState {
  return { ...pick(identity as Call, ...IDENTITY), status, ...fields } as unknown as ToolCallState;
}

/** Change every call of that id which is in one of these states. */
function change(
  state: SessionState,
  action: { turnId: string; toolCallId: string },
  statuses: readonly Status[],
  how: (call: Call) => object,
): SessionState {
  const turn = matchingTurn(state, action);
  const isMeant = (part: ResponsePart) =>
    part.kind === "toolCall" &&
    part.toolCall.toolCallId === action.toolCallId &&
    statuses.includes(part.toolCall.status);
  if (!turn?.responseParts.some(isMeant)) return state;
  const responseParts = turn.responseParts.map((part) =>
    part.kind === "toolCall" && isMeant(part)
      ? { ...part, toolCall: how(part.toolCall) as ToolCallState }
      : part,
  );
  return { ...state, activeTurn: { ...turn, responseParts } };
}
