/** What the parts of a conversation need of the chat that they are shown in. */
import type { ReadonlySignal } from "@preact/signals";
import { createContext } from "preact";
import { useContext } from "preact/hooks";
import type { ChatClientAction, URI } from "../../ahp/wire";

export interface Access {
  readonly session: URI;
  readonly chat: URI;
  /** Under which what is typed and chosen here is kept. */
  readonly key: string;
  /** The folder of the chat. */
  readonly folder: URI | undefined;
  /** A turn is being answered, so what was said before cannot be changed now. */
  readonly isBusy: ReadonlySignal<boolean>;
  /** One may speak here, and change what was said. */
  readonly isOpen: boolean;
  /** Let something happen in the chat. A refusal is shown to the user. */
  act(action: ChatClientAction): void;
  /** Begin to change a message that was sent, and to answer anew from there. */
  edit(turnId: string): void;
  /** Answer a message once more: its turn goes, with what came after it, and it is sent again. */
  regenerate(turnId: string): void;
  fork(turnId: string): void;
}

const Context = createContext<Access | undefined>(undefined);

export const AccessProvider = Context.Provider;

/** The chat that is shown around here. */
export function useAccess(): Access {
  const access = useContext(Context);
  if (!access) throw new Error("no chat is shown here");
  return access;
}
