/** The context that the parts of a conversation get from their chat. */
import type { ReadonlySignal } from "@preact/signals";
import { createContext } from "preact";
import { useContext } from "preact/hooks";
import type { ChatClientAction, URI } from "../../ahp/wire";

export interface Access {
  readonly session: URI;
  readonly chat: URI;
  /** The key of the draft and of the choices here. */
  readonly key: string;
  /** The folder of the chat. */
  readonly folder: URI | undefined;
  /** A turn is running, so earlier messages cannot be edited now. */
  readonly isBusy: ReadonlySignal<boolean>;
  /** Whether messages may be sent and edited here. */
  readonly isOpen: boolean;
  /** Dispatch an action to the chat. A refusal is shown to the user. */
  act(action: ChatClientAction): void;
  /** Edit a sent message, to continue from there. */
  edit(turnId: string): void;
  /** Regenerate an answer: the turn and everything after it are removed, and its message is sent again. */
  regenerate(turnId: string): void;
  fork(turnId: string): void;
  /** Begin a side chat about the conversation up to a turn, and about the words that are selected in it; undefined if
   * the agent has none. */
  readonly askAside: ((turnId: string, words: string) => void) | undefined;
}

const Context = createContext<Access | undefined>(undefined);

export const AccessProvider = Context.Provider;

/** The context of the current chat. */
export function useAccess(): Access {
  const access = useContext(Context);
  if (!access) throw new Error("no chat is shown here");
  return access;
}
