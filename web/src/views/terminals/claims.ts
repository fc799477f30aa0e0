/** Who holds a terminal, and who may take it. */
import { client } from "../../ahp";
import type { TerminalClaim } from "../../ahp/wire";

/** Whether this page holds it. */
export function isHeldHere(claim: TerminalClaim): boolean {
  return claim.kind === "client" && claim.clientId === client.clientId;
}

/** Say who holds it. */
export function holderOf(claim: TerminalClaim): string {
  if (claim.kind === "client") return isHeldHere(claim) ? "yours" : "another client's";
  return claim.toolCallId ? "a tool call's" : "a session's";
}

/** The claim for taking it over; nothing if that is not possible. */
export function nextClaim(claim: TerminalClaim): { label: string; claim: TerminalClaim } | undefined {
  if (claim.kind !== "session") return undefined;
  if (claim.toolCallId || claim.turnId)
    return {
      label: "Detach from the tool call",
      claim: { kind: "session", session: claim.session, chat: claim.chat },
    };
  return { label: "Take over", claim: { kind: "client", clientId: client.clientId } };
}
