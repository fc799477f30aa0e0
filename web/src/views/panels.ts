/** Which panels there are for somebody, and why one is not. */
import type { Withheld } from "../ahp/api";
import type { Panel } from "./route";

/** Tell whether a panel is offered. One that is open already stays, and says why it is empty. */
export function isOffered(name: Panel, withheld: Withheld, open?: Panel): boolean {
  return name !== "terminals" || name === open || withheld["terminals"] === undefined;
}

/** Say why there are no terminals; nothing, if there may be some. */
export function whyNoTerminals(withheld: Withheld): string | undefined {
  if (withheld["terminals"] === "off") return "Terminals are switched off on this host.";
  if (withheld["terminals"] !== "key") return undefined;
  return "This key may not use terminals. `agenthost keys create --terminals` makes one that may.";
}
