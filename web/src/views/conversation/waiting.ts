/** The decisions and answers that a chat waits for. */
import type { ChatInputRequest, ChatState, ToolCallState } from "../../ahp/wire";

/** The calls of the running turn that wait for approval, for approval of their result, or for a token. */
export function waitingCalls({ activeTurn }: ChatState): readonly ToolCallState[] {
  return (activeTurn?.responseParts ?? []).flatMap((part) =>
    part.kind === "toolCall" && /^(pending|auth)-/.test(part.toolCall.status) ? [part.toolCall] : [],
  );
}

/** The open questions of the running turn. */
export function openRequests({ activeTurn }: ChatState): readonly ChatInputRequest[] {
  return (activeTurn?.responseParts ?? []).flatMap((part) =>
    part.kind === "inputRequest" && !part.response ? [part.request] : [],
  );
}

/** Whether the running turn waits for a decision or an answer. */
export function waitsForPerson(chat: ChatState): boolean {
  return waitingCalls(chat).length > 0 || openRequests(chat).length > 0;
}
