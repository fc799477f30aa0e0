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
  const at = state.turns.findIndex((turn) => turn.id === turnId);
  const turn = state.turns[at];
  if (!turn || state.activeTurn) {
    toast(turn ? "Another turn has begun. Stop it first." : "This turn is gone.", "error");
    return false;
  }
  const session = state.summary.resource;
  const before = state.turns[at - 1];
  try {
    await client.dispatch({ type: "session/truncated", session, ...(before && { turnId: before.id }) });
  } catch {
    return false; // the page shows what the host refuses
  }
  return sendAgain(session, turn.userMessage);
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
    const draft = draftOf(session);
    if (!isSendable(draft.peek())) draft.value = draftFrom(userMessage);
    return false;
  }
}
