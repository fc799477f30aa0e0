/** What is to be said in a session as soon as it is there: sessions take a moment to get ready. */
import type { Message } from "../../ahp/wire";

const waiting = new Map<string, Message>();

/** Say this in a session when it is ready. */
export function setFirstMessage(session: string, message: Message): void {
  waiting.set(session, message);
}

/** Give what is to be said, once. */
export function takeFirstMessage(session: string): Message | undefined {
  const message = waiting.get(session);
  waiting.delete(session);
  return message;
}
