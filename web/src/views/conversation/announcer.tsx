/** What a screen reader is told of a conversation: that something began, ended or is needed. Never each word as it comes. */
import { useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import type { SessionState, Turn } from "../../ahp/wire";
import { waitingCalls } from "./waiting";

const LONGEST = 300;

/** Tell it, politely. */
export function Announcer({ state }: { state: SessionState }) {
  const words = useSignal("");
  const before = useRef(state);
  useEffect(() => {
    const said = news(before.current, state);
    before.current = state;
    if (said) words.value = said;
  }, [state]);
  return (
    <p class="unseen" role="status" aria-live="polite">
      {words.value}
    </p>
  );
}

/** Say what is new between two states of one session; nothing, if it is only more text. */
export function news(before: SessionState, after: SessionState): string | undefined {
  if (before.summary.resource !== after.summary.resource) return undefined;
  const request = after.inputRequests?.find((one) => !before.inputRequests?.some((old) => old.id === one.id));
  if (request) return `The agent asks: ${request.message ?? request.questions?.[0]?.message ?? "something"}`;
  const call = waitingCalls(after).find(
    (one) =>
      !waitingCalls(before).some((old) => old.toolCallId === one.toolCallId && old.status === one.status),
  );
  if (call)
    return call.status === "pending-confirmation"
      ? `Approval needed: ${call.displayName}`
      : `Result needs approval: ${call.displayName}`;
  if (before.activeTurn && after.activeTurn?.id !== before.activeTurn.id) {
    const ended = after.turns.find((one) => one.id === before.activeTurn?.id);
    if (ended) return ending(ended);
  }
  if (after.activeTurn && before.activeTurn?.id !== after.activeTurn.id) return "Answering";
  return undefined;
}

function ending(turn: Turn): string {
  if (turn.state === "cancelled") return "Stopped";
  if (turn.state === "error") return `The turn failed: ${turn.error?.message ?? ""}`;
  const text = turn.responseParts
    .map((part) => (part.kind === "markdown" ? part.content : ""))
    .join(" ")
    .trim();
  return text.length > LONGEST ? `Answered: ${text.slice(0, LONGEST)} and more` : `Answered: ${text}`;
}
