/** What is to be said in a session as soon as it is there: sessions take a moment to get ready. */
import type { UserMessage } from "../../ahp/wire";

const waiting = new Map<string, UserMessage>();

/** Say this in a session when it is ready. */
export function setFirstMessage(session: string, message: UserMessage): void {
  waiting.set(session, message);
}

/** Give what is to be said, once. */
export function takeFirstMessage(session: string): UserMessage | undefined {
  const message = waiting.get(session);
  waiting.delete(session);
  return message;
}
