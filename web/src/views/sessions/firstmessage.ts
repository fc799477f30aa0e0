/** The first message of a session, sent as soon as the session is ready. */
import type { Message } from "../../ahp/wire";

const waiting = new Map<string, Message>();

/** Send this in a session when it is ready. */
export function setFirstMessage(session: string, message: Message): void {
  waiting.set(session, message);
}

/** Return the message, once. */
export function takeFirstMessage(session: string): Message | undefined {
  const message = waiting.get(session);
  waiting.delete(session);
  return message;
}
