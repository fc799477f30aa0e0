/** Several calls that wait at once, and how to allow all of them. */
import type { SessionState } from "../../ahp/wire";
import { useAccess } from "./access";
import { waitingCalls } from "./waiting";

/** Offer to allow all calls that wait; nothing, if it is one or none. */
export function Approvals({ state }: { state: SessionState }) {
  const { act } = useAccess();
  const turnId = state.activeTurn?.id;
  const calls = waitingCalls(state).filter((one) => one.status === "pending-confirmation");
  if (!turnId || calls.length < 2) return null;
  const allow = () => {
    for (const { toolCallId } of calls)
      act({
        type: "session/toolCallConfirmed",
        turnId,
        toolCallId,
        approved: true,
        confirmed: "user-action",
      });
    document.querySelector<HTMLElement>(".composer textarea")?.focus(); // the button is gone
  };
  return (
    <div class="card approvals" role="group" aria-label="Calls that wait">
      <span class="grow">{calls.length} calls wait for you</span>
      <button type="button" class="primary" onClick={allow}>
        Allow all {calls.length}
      </button>
    </div>
  );
}
