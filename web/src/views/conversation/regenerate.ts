/** Regenerating an answer: the turn and everything after it are removed, and its message is sent again. */
import { client } from "../../ahp";
import type { ChatState, Message, ModelSelection } from "../../ahp/wire";
import { newId } from "../parts/ids";
import { confirm } from "../parts/dialog";
import { toast } from "../parts/toasts";
import { keepDraft } from "./drafts";
import { timeNow } from "./times";

/** The current chat, the key of its draft, and the model that answers. */
export interface Place {
  readonly chat: ChatState;
  readonly key: string;
  readonly model: ModelSelection | undefined;
}

/**
 * Regenerate the answer of a turn. `current` returns the current chat.
 *
 * Returns whether the message was sent. It is not if the host refuses to truncate the chat: then nothing has changed,
 * and the refusal is shown.
 */
export async function regenerate(current: () => Place, turnId: string): Promise<boolean> {
  const later = laterThan(current().chat, turnId);
  if (later > 0 && !(await isMeant(later))) return false;
  const place = current(); // it may have changed while the user decided
  const turn = place.chat.turns.find((one) => one.id === turnId);
  if (!(await cutBefore(place.chat, turnId)) || !turn) return false;
  const { model = turn.message.model } = place;
  return sendAgain(place, { ...turn.message, origin: { kind: "user" }, ...(model && { model }) });
}

/**
 * Replace a turn, and everything after it, with a new message. Returns whether it was sent.
 *
 * If not, its text is in the composer again.
 */
export async function replaceTurn(place: Place, turnId: string, message: Message): Promise<boolean> {
  if (await cutBefore(place.chat, turnId)) return sendAgain(place, message);
  keepDraft(place.key, message);
  return false;
}

/** Remove a turn and all after it. Returns whether the host did it; a refusal is shown. */
async function cutBefore(chat: ChatState, turnId: string): Promise<boolean> {
  const at = chat.turns.findIndex((turn) => turn.id === turnId);
  if (at < 0 || chat.activeTurn) {
    toast(at < 0 ? "This turn is gone." : "Another turn has begun. Stop it first.", "error");
    return false;
  }
  const before = chat.turns[at - 1];
  try {
    await client.dispatch(chat.resource, { type: "chat/truncated", ...(before && { turnId: before.id }) });
    return true;
  } catch {
    return false;
  }
}

function laterThan(chat: ChatState, turnId: string): number {
  const at = chat.turns.findIndex((turn) => turn.id === turnId);
  return at < 0 ? 0 : chat.turns.length - at - 1;
}

function isMeant(later: number): Promise<boolean> {
  const [turns, them] = later === 1 ? ["The turn", "it"] : [`The ${later} turns`, "them"];
  return confirm(
    "Answer this message again?",
    `${turns} after it will be deleted. To keep ${them}, fork the session first.`,
    "Answer again",
  );
}

/** Send a message. If it is refused, it is in the composer again. */
async function sendAgain({ chat, key }: Place, message: Message): Promise<boolean> {
  try {
    const action = { type: "chat/turnStarted", turnId: newId(), startedAt: timeNow(), message } as const;
    await client.dispatch(chat.resource, action);
    return true;
  } catch {
    keepDraft(key, message);
    return false;
  }
}
