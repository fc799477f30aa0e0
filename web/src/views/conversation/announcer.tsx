/** Announcements for screen readers: a turn started, ended or needs something. Never each word as it streams. */
import { useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import type { ChatState, ChatSummary, SessionState, ToolCallState, Turn, URI } from "../../ahp/wire";
import { activityOf } from "../sessions/summaries";
import { nameOfChat } from "./chats";
import { errorOf } from "./failures";
import { openRequests, waitingCalls } from "./waiting";

const LONGEST = 300;

/** Announce it politely. */
export function Announcer({ session, chat }: { session: SessionState; chat: ChatState }) {
  const words = useSignal("");
  const before = useRef({ session, chat });
  useEffect(() => {
    const old = before.current;
    const said = news(old.chat, chat) ?? newsOfOthers(old.session, session, chat.resource);
    before.current = { session, chat };
    if (said) words.value = said;
  }, [session, chat]);
  return (
    <p class="unseen" role="status" aria-live="polite">
      {words.value}
    </p>
  );
}

/** Return the news between two states of a chat; nothing if it is only more text. */
export function news(before: ChatState, after: ChatState): string | undefined {
  if (before.resource !== after.resource) return undefined;
  const known = openRequests(before);
  const request = openRequests(after).find((one) => !known.some((old) => old.id === one.id));
  if (request) return `The agent asks: ${request.message ?? request.questions?.[0]?.message ?? "something"}`;
  const call = waitingCalls(after).find(
    (one) =>
      !waitingCalls(before).some((old) => old.toolCallId === one.toolCallId && old.status === one.status),
  );
  if (call) return needOf(call);
  if (before.activeTurn && after.activeTurn?.id !== before.activeTurn.id) {
    const ended = after.turns.find((one) => one.id === before.activeTurn?.id);
    if (ended) return ending(ended);
  }
  if (after.activeTurn && before.activeTurn?.id !== after.activeTurn.id) return "Answering";
  return undefined;
}

/** Return which other chat of the session needs input since the state before; nothing, if none does. */
export function newsOfOthers(before: SessionState, after: SessionState, shown: URI): string | undefined {
  if (before.chats === after.chats) return undefined;
  const waits = (one: ChatSummary) => activityOf(one.status) === "needs input";
  const waiting = after.chats.filter((one) => one.resource !== shown && waits(one));
  const known = before.chats.filter(waits).map((one) => one.resource);
  const chat = waiting.find((one) => !known.includes(one.resource));
  return chat && `The chat ${nameOfChat(after, chat)} needs input`;
}

function needOf({ status, displayName }: ToolCallState): string {
  if (status === "pending-confirmation") return `Approval needed: ${displayName}`;
  return status === "auth-required"
    ? `A token is needed: ${displayName}`
    : `Result needs approval: ${displayName}`;
}

function ending(turn: Turn): string {
  if (turn.state === "cancelled") return "Stopped";
  if (turn.state === "error") return `The turn failed: ${errorOf(turn)?.message ?? ""}`;
  const text = turn.responseParts
    .map((part) => (part.kind === "markdown" ? part.content : ""))
    .join(" ")
    .trim();
  return text.length > LONGEST ? `Answered: ${text.slice(0, LONGEST)} and more` : `Answered: ${text}`;
}
