/** Answering a message once more: its turn goes, with all that came after it, and it is sent again. */
import { client } from "../../ahp";
import type { ChatState, Message, ModelSelection } from "../../ahp/wire";
import { newId } from "../parts/ids";
import { confirm } from "../parts/dialog";
import { toast } from "../parts/toasts";
import { draftFrom, draftOf, isSendable } from "./drafts";
import { timeNow } from "./times";

/** The chat as it is now, where what is typed in it is kept, and which model answers. */
export interface Place {
  readonly chat: ChatState;
  readonly key: string;
  readonly model: ModelSelection | undefined;
}

/**
 * Answer the message of a turn once more. `current` gives the chat as it is now.
 *
 * Returns whether the message was sent. It is not if the host does not cut the chat: then nothing has changed,
 * and the refusal is shown.
 */
export async function regenerate(current: () => Place, turnId: string): Promise<boolean> {
  const later = laterThan(current().chat, turnId);
  if (later > 0 && !(await isMeant(later))) return false;
  const place = current(); // it may have changed while somebody thought about it
  const turn = place.chat.turns.find((one) => one.id === turnId);
  if (!(await cutBefore(place.chat, turnId)) || !turn) return false;
  const { model = turn.message.model } = place;
  return sendAgain(place, { ...turn.message, origin: { kind: "user" }, ...(model && { model }) });
}

/**
 * Send a message in the place of a turn, and of all that came after it. Returns whether it was sent.
 *
 * If it is not, what was written is where messages are written.
 */
export async function replaceTurn(place: Place, turnId: string, message: Message): Promise<boolean> {
  if (await cutBefore(place.chat, turnId)) return sendAgain(place, message);
  keep(place.key, message);
  return false;
}

/** Remove a turn and all after it. Returns whether the host did; the page shows what it refuses. */
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

/** Send a message. One that is refused is not lost: it is where messages are written. */
async function sendAgain({ chat, key }: Place, message: Message): Promise<boolean> {
  try {
    const action = { type: "chat/turnStarted", turnId: newId(), startedAt: timeNow(), message } as const;
    await client.dispatch(chat.resource, action);
    return true;
  } catch {
    keep(key, message);
    return false;
  }
}

/** Put a message back where messages are written, unless somebody has begun another one there. */
function keep(key: string, message: Message): void {
  const draft = draftOf(key);
  if (!isSendable(draft.peek())) draft.value = draftFrom(message);
}
