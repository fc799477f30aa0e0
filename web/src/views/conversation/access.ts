/** What the parts of a conversation need of the session that they are shown in. */
import type { ReadonlySignal } from "@preact/signals";
import { createContext } from "preact";
import { useContext } from "preact/hooks";
import type { SessionClientAction, URI } from "../../ahp/wire";

type WithoutSession<Action> = Action extends unknown ? Omit<Action, "session"> : never;

/** An action of this session, without saying so. */
export type OwnAction = WithoutSession<SessionClientAction>;

export interface Access {
  readonly uri: URI;
  /** The folder of the session. */
  readonly folder: URI | undefined;
  /** A turn is being answered, so what was said before cannot be changed now. */
  readonly isBusy: ReadonlySignal<boolean>;
  /** Let something happen in the session. A refusal is shown to the user. */
  act(action: OwnAction): void;
  /** Begin to change a message that was sent, and to answer anew from there. */
  edit(turnId: string): void;
  /** Answer a message once more: its turn goes, with what came after it, and it is sent again. */
  regenerate(turnId: string): void;
  fork(turnId: string): void;
}

const Context = createContext<Access | undefined>(undefined);

export const AccessProvider = Context.Provider;

/** The session that is shown around here. */
export function useAccess(): Access {
  const access = useContext(Context);
  if (!access) throw new Error("no session is shown here");
  return access;
}
