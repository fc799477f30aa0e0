/** Several calls that wait at once, and how to allow all of them. */
import type { ChatState } from "../../ahp/wire";
import { useAccess } from "./access";
import { waitingCalls } from "./waiting";

/** Offer to allow all calls that wait, if there are several. */
export function Approvals({ chat }: { chat: ChatState }) {
  const { act } = useAccess();
  const turnId = chat.activeTurn?.id;
  const calls = waitingCalls(chat).filter((one) => one.status === "pending-confirmation");
  if (!turnId || calls.length < 2) return null;
  const allow = () => {
    for (const { toolCallId } of calls)
      act({
        type: "chat/toolCallConfirmed",
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
