/** Tool calls: from one state to the next. Each new state is rebuilt from the fields that it has. */

import type { ActionOf, ChatState, ResponsePart, ToolCallContributor, ToolCallState } from "../wire";
import { pick, put } from "./records";
import { refresh } from "./status";
import { matchingTurn } from "./turns";

type Status = ToolCallState["status"];
/** A call in any state, with any of the fields that calls have. */
type Call = Omit<ToolCallState, "status"> & { [key: string]: any };
type OfCall = { turnId: string; toolCallId: string; _meta?: object };

const IDENTITY = ["toolCallId", "toolName", "displayName", "intention", "contributor", "_meta"];
const PARAMETERS = ["invocationMessage", "toolInput"];
const CONSENT = ["confirmed", "selectedOption"];
const RESULT = ["success", "pastTenseMessage", "content", "structuredContent", "error"];
/** The fields that a waiting call keeps if a repeated request lacks them. */
const QUESTION = ["confirmationTitle", "riskAssessment", "edits", "editable", "options"];

export function toolCallStart(state: ChatState, action: ActionOf<"chat/toolCallStart">): ChatState {
  const turn = matchingTurn(state, action);
  if (!turn) return state;
  const toolCall = { ...pick(action as unknown as Call, ...IDENTITY), status: "streaming" };
  const part = { kind: "toolCall", toolCall } as unknown as ResponsePart;
  return { ...state, activeTurn: { ...turn, responseParts: [...turn.responseParts, part] } };
}

export function toolCallDelta(state: ChatState, action: ActionOf<"chat/toolCallDelta">): ChatState {
  return change(state, action, ["streaming"], (call) => {
    const partialInput =
      action.content === undefined || action.content === null
        ? call["partialInput"]
        : (call["partialInput"] ?? "") + action.content;
    return put(call, { partialInput, ...pick(action, "invocationMessage", "_meta") });
  });
}

export function toolCallReady(state: ChatState, action: ActionOf<"chat/toolCallReady">): ChatState {
  const changed = change(state, action, ["streaming", "running", "pending-confirmation"], (call) => {
    const refined = put(call, {
      contributor: contributorOf(call["contributor"], action.contributor),
      intention: action.intention ?? call["intention"],
    });
    const told = { ...(call["status"] !== "streaming" && pick(call, "toolInput")), ...pick(action, ...TOLD) };
    if (action.confirmed) return build(refined, action, "running", { ...told, confirmed: action.confirmed });
    const kept = call["status"] === "pending-confirmation" ? pick(call, ...QUESTION) : {};
    const asked = pick(action as unknown as Call, ...QUESTION);
    return build(refined, action, "pending-confirmation", { ...told, ...kept, ...asked });
  });
  return refresh(changed);
}

const TOLD = ["invocationMessage", "toolInput"] as const;

/** The contributor may arrive late, but a client's call stays with that client, and no other becomes a client's. */
function contributorOf(
  old: ToolCallContributor | undefined,
  told: ToolCallContributor | undefined,
): ToolCallContributor | undefined {
  if (!told) return old;
  const isClients = old?.kind === "client" || told.kind === "client";
  const isSame = old?.kind === "client" && told.kind === "client" && old.clientId === told.clientId;
  return isClients && !isSame ? old : told;
}

export function toolCallConfirmed(state: ChatState, action: ActionOf<"chat/toolCallConfirmed">): ChatState {
  const changed = change(state, action, ["pending-confirmation"], (call) => {
    const told = pick(call, ...PARAMETERS);
    const selected = selectedOption(call, action.selectedOptionId);
    if (!action.approved) {
      const reasons = pick(action, "reason", "reasonMessage", "userSuggestion");
      return build(call, action, "cancelled", { ...told, ...reasons, ...selected });
    }
    // An input that is stored elsewhere is not edited here.
    const isText = typeof call["toolInput"] === "string";
    const edited = isText ? pick({ toolInput: action.editedToolInput }, "toolInput") : {};
    return build(call, action, "running", { ...told, ...edited, ...pick(action, "confirmed"), ...selected });
  });
  return refresh(changed);
}

function selectedOption(call: Call, id: string | undefined): Partial<Call> {
  const options: { id: string }[] = (id && call["options"]) || [];
  const selected = options.find((option) => option.id === id);
  return selected ? { selectedOption: selected } : {};
}

export function toolCallComplete(state: ChatState, action: ActionOf<"chat/toolCallComplete">): ChatState {
  const statuses: Status[] = ["running", "pending-confirmation", "auth-required"];
  const changed = change(state, action, statuses, (call) => {
    const isAuthRequired = call["status"] === "auth-required";
    // Without its token a call can only fail.
    if (isAuthRequired && action.result.success !== false) return call;
    const isAsked = action.requiresResultConfirmation && !isAuthRequired;
    // One that was never confirmed counts as one that needed no confirmation.
    const isConfirmed = call["status"] !== "pending-confirmation";
    return build(call, action, isAsked ? "pending-result-confirmation" : "completed", {
      ...pick(call, ...PARAMETERS),
      ...(isConfirmed ? pick(call, ...CONSENT) : { confirmed: "not-needed" }),
      ...(isAuthRequired && pick(call, "content")),
      ...pick(action.result as unknown as Call, ...RESULT),
    });
  });
  return refresh(changed);
}

export function toolCallResultConfirmed(
  state: ChatState,
  action: ActionOf<"chat/toolCallResultConfirmed">,
): ChatState {
  const changed = change(state, action, ["pending-result-confirmation"], (call) =>
    action.approved
      ? build(call, action, "completed", pick(call, ...PARAMETERS, ...CONSENT, ...RESULT))
      : build(call, action, "cancelled", {
          ...pick(call, ...PARAMETERS, "selectedOption"),
          reason: "result-denied",
        }),
  );
  return refresh(changed);
}

export function toolCallContentChanged(
  state: ChatState,
  action: ActionOf<"chat/toolCallContentChanged">,
): ChatState {
  return change(state, action, ["running"], (call) =>
    put(call, { content: action.content, ...pick(action, "_meta") }),
  );
}

/** Only servers ask for tokens. */
export function toolCallAuthRequired(
  state: ChatState,
  action: ActionOf<"chat/toolCallAuthRequired">,
): ChatState {
  const changed = change(state, action, ["running"], (call) =>
    call["contributor"]?.kind === "mcp"
      ? build(call, action, "auth-required", {
          ...pick(call, ...PARAMETERS, ...CONSENT, "content"),
          auth: action.auth,
        })
      : call,
  );
  return refresh(changed);
}

export function toolCallAuthResolved(
  state: ChatState,
  action: ActionOf<"chat/toolCallAuthResolved">,
): ChatState {
  const changed = change(state, action, ["auth-required"], (call) =>
    build(call, action, "running", pick(call, ...PARAMETERS, ...CONSENT, "content")),
  );
  return refresh(changed);
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
  const toolCall = build(call, {}, "cancelled", { ...told, reason: "skipped" });
  return { kind: "toolCall", toolCall };
}

function build(identity: object, action: { _meta?: object }, status: Status, fields: object): ToolCallState {
  const known = { ...pick(identity as Call, ...IDENTITY), ...pick(action, "_meta") };
  return { ...known, status, ...fields } as unknown as ToolCallState;
}

/** Change every call with this id that is in one of these states. */
function change(
  state: ChatState,
  action: OfCall,
  statuses: readonly Status[],
  how: (call: Call) => object,
): ChatState {
  const turn = matchingTurn(state, action);
  if (!turn) return state;
  let isChanged = false;
  const responseParts = turn.responseParts.map((part) => {
    if (part.kind !== "toolCall" || part.toolCall.toolCallId !== action.toolCallId) return part;
    if (!statuses.includes(part.toolCall.status)) return part;
    const toolCall = how(part.toolCall) as ToolCallState;
    if (toolCall === part.toolCall) return part;
    isChanged = true;
    return { ...part, toolCall };
  });
  return isChanged ? { ...state, activeTurn: { ...turn, responseParts } } : state;
}
