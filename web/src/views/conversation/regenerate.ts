/** Answering a message once more: its turn goes, with all that came after it, and it is sent again. */
import { client } from "../../ahp";
import type { SessionState, UserMessage } from "../../ahp/wire";
import { newId } from "../parts/ids";
import { confirm } from "../parts/dialog";
import { toast } from "../parts/toasts";
import { draftFrom, draftOf, isSendable } from "./drafts";

/**
 * Answer the message of a turn once more. `current` gives the session as it is now.
 *
 * Returns whether the message was sent. It is not if the host does not cut the session: then nothing has changed,
 * and the refusal is shown.
 */
export async function regenerate(current: () => SessionState, turnId: string): Promise<boolean> {
  const later = laterThan(current(), turnId);
  if (later > 0 && !(await isMeant(later))) return false;
  const state = current(); // it may have changed while somebody thought about it
  const turn = state.turns.find((one) => one.id === turnId);
  return (
    (await cutBefore(state, turnId)) &&
    turn !== undefined &&
    sendAgain(state.summary.resource, turn.userMessage)
  );
}

/**
 * Send a message in the place of a turn, and of all that came after it. Returns whether it was sent.
 *
 * If it is not, what was written is where messages are written.
 */
export async function replaceTurn(
  state: SessionState,
  turnId: string,
  message: UserMessage,
): Promise<boolean> {
  const session = state.summary.resource;
  if (await cutBefore(state, turnId)) return sendAgain(session, message);
  keep(session, message);
  return false;
}

/** Remove a turn and all after it. Returns whether the host did; the page shows what it refuses. */
async function cutBefore(state: SessionState, turnId: string): Promise<boolean> {
  const at = state.turns.findIndex((turn) => turn.id === turnId);
  if (at < 0 || state.activeTurn) {
    toast(at < 0 ? "This turn is gone." : "Another turn has begun. Stop it first.", "error");
    return false;
  }
  const before = state.turns[at - 1];
  const session = state.summary.resource;
  try {
    await client.dispatch({ type: "session/truncated", session, ...(before && { turnId: before.id }) });
    return true;
  } catch {
    return false;
  }
}

function laterThan(state: SessionState, turnId: string): number {
  const at = state.turns.findIndex((turn) => turn.id === turnId);
  return at < 0 ? 0 : state.turns.length - at - 1;
}

function isMeant(later: number): Promise<boolean> {
  const [turns, them] = later === 1 ? ["The turn", "it"] : [`The ${later} turns`, "them"];
  return confirm(
    "Answer this message again?",
    `${turns} after it will be deleted. To keep ${them}, fork the session first.`,
    "Answer again",
  );
}

/** Send a message. One that is refused is not lost: it is where messages are written. */
async function sendAgain(session: string, userMessage: UserMessage): Promise<boolean> {
  try {
    await client.dispatch({ type: "session/turnStarted", session, turnId: newId(), userMessage });
    return true;
  } catch {
    keep(session, userMessage);
    return false;
  }
}

/** Put a message back where messages are written, unless somebody has begun another one there. */
function keep(session: string, message: UserMessage): void {
  const draft = draftOf(session);
  if (!isSendable(draft.peek())) draft.value = draftFrom(message);
}
