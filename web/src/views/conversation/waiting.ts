/** What a session waits for that a person has to say. */
import type { SessionState, ToolCallState } from "../../ahp/wire";

/** The calls of the running turn that wait for a decision: to run, or to have their result seen. */
export function waitingCalls({ activeTurn }: SessionState): readonly ToolCallState[] {
  return (activeTurn?.responseParts ?? []).flatMap((part) =>
    part.kind === "toolCall" && part.toolCall.status.startsWith("pending") ? [part.toolCall] : [],
  );
}

/** Whether the running turn goes on only when somebody decides or answers. */
export function waitsForPerson(state: SessionState): boolean {
  return waitingCalls(state).length > 0 || (state.inputRequests?.length ?? 0) > 0;
}
