/** Which panels a client gets, and why one is missing. */
import type { Withheld } from "../ahp/api";
import type { Panel } from "./route";

/** Return whether a panel is offered. An open panel stays, and says why it is empty. */
export function isOffered(name: Panel, withheld: Withheld, open?: Panel): boolean {
  return name !== "terminals" || name === open || withheld["terminals"] === undefined;
}

/** Return why there are no terminals; nothing if they are allowed. */
export function whyNoTerminals(withheld: Withheld): string | undefined {
  if (withheld["terminals"] === "off") return "Terminals are switched off on this host.";
  if (withheld["terminals"] !== "key") return undefined;
  return "This key may not use terminals. `agenthost keys create --terminals` makes one that may.";
}
