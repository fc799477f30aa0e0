/** What a chat waits for that a person has to say. */
import type { ChatInputRequest, ChatState, ToolCallState } from "../../ahp/wire";

/** The calls of the running turn that wait: to run, to have their result seen, or for a token. */
export function waitingCalls({ activeTurn }: ChatState): readonly ToolCallState[] {
  return (activeTurn?.responseParts ?? []).flatMap((part) =>
    part.kind === "toolCall" && /^(pending|auth)-/.test(part.toolCall.status) ? [part.toolCall] : [],
  );
}

/** The questions of the running turn that nobody has answered. */
export function openRequests({ activeTurn }: ChatState): readonly ChatInputRequest[] {
  return (activeTurn?.responseParts ?? []).flatMap((part) =>
    part.kind === "inputRequest" && !part.response ? [part.request] : [],
  );
}

/** Whether the running turn goes on only when somebody decides or answers. */
export function waitsForPerson(chat: ChatState): boolean {
  return waitingCalls(chat).length > 0 || openRequests(chat).length > 0;
}
