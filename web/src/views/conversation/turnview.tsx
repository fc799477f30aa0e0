/** A turn: the message, the answer, and how it ended. An old turn is never rendered again. */
import { memo } from "preact/compat";
import { useRef } from "preact/hooks";
import type { ActiveTurn, Turn, UsageInfo } from "../../ahp/wire";
import { Copy } from "../parts/copy";
import { Icon } from "../parts/icon";
import { useAccess } from "./access";
import { PartView } from "./partview";
import { MessageView } from "./messageview";

/** How many characters of a selection a side chat is about, at most. */
const MOST_SELECTED = 10_000;

interface TurnViewProps {
  turn: Turn | ActiveTurn;
  number: number;
  /** Whether it is running. */
  isActive: boolean;
  /** Whether it waits for a decision or an answer. */
  isWaiting: boolean;
  /** Whether it failed and can be resumed. */
  canResume: boolean;
}

/** Show a turn. */
export const TurnView = memo(function TurnView(props: TurnViewProps) {
  const { turn, number, isActive, isWaiting, canResume } = props;
  const { isOpen } = useAccess();
  const last = turn.responseParts.length - 1;
  return (
    <li class="turn" data-turn={turn.id}>
      <article aria-label={`Turn ${number}`} aria-busy={isActive}>
        <MessageView message={turn.message}>{!isActive && <TurnActions turn={turn} />}</MessageView>
        <div class="answer">
          <h3 class="unseen">Answer</h3>
          {turn.responseParts.map((part, at) => (
            <PartView
              key={keyOf(part, at)}
              part={part}
              turnId={turn.id}
              isActive={isActive}
              isGrowing={isActive && at === last}
              isEnd={!isActive && at === last}
              canResume={canResume && isOpen && at === last}
            />
          ))}
          {isActive && !isWaiting && isSilent(turn) && <Working />}
          {isWaiting && <p class="waiting for-you">Waiting for you</p>}
          <Ending turn={turn} isActive={isActive} canResume={canResume} />
        </div>
      </article>
    </li>
  );
});

function keyOf(part: Turn["responseParts"][number], at: number): string {
  if (part.kind === "toolCall") return part.toolCall.toolCallId;
  if (part.kind === "inputRequest") return part.request.id;
  return "id" in part && typeof part.id === "string" ? part.id : String(at);
}

/** Whether there is no output yet, or none since it failed. */
function isSilent({ responseParts }: Turn | ActiveTurn): boolean {
  const part = responseParts.at(-1);
  return !part || part.kind === "error";
}

function Working() {
  return (
    <p class="waiting faint">
      <span class="spinner" aria-hidden="true" /> Working
    </p>
  );
}

/** Return what is selected in a turn. */
function wordsIn(turn: Element | null | undefined): string {
  const selection = getSelection();
  if (!turn || !selection || selection.rangeCount === 0 || selection.isCollapsed) return "";
  return selection.getRangeAt(0).intersectsNode(turn)
    ? selection.toString().trim().slice(0, MOST_SELECTED)
    : "";
}

function TurnActions({ turn }: { turn: Turn | ActiveTurn }) {
  const { askAside, edit, fork, isBusy, isOpen } = useAccess();
  const words = useRef(""); // a click may end the selection
  return (
    <div class="turn-actions">
      <Copy text={turn.message.text} label="Copy message" />
      {isOpen && (
        <button
          type="button"
          class="quiet small"
          title="Edit and send again"
          aria-label="Edit and send again"
          disabled={isBusy.value}
          onClick={() => edit(turn.id)}
        >
          <Icon name="edit" />
        </button>
      )}
      <button
        type="button"
        class="quiet small"
        title="Fork from here"
        aria-label="Fork from here"
        onClick={() => fork(turn.id)}
      >
        <Icon name="fork" />
      </button>
      {askAside && (
        <button
          type="button"
          class="quiet small"
          title="Ask aside, about what is selected or all until here"
          aria-label="Ask aside"
          onPointerDown={(event) => (words.current = wordsIn(event.currentTarget.closest(".turn")))}
          onClick={(event) => {
            askAside(turn.id, words.current || wordsIn(event.currentTarget.closest(".turn")));
            words.current = "";
          }}
        >
          <Icon name="aside" />
        </button>
      )}
    </div>
  );
}

interface EndingProps {
  turn: Turn | ActiveTurn;
  isActive: boolean;
  canResume: boolean;
}

function Ending({ turn, isActive, canResume }: EndingProps) {
  const { isOpen } = useAccess();
  const state = "state" in turn ? turn.state : undefined;
  const text = () =>
    turn.responseParts
      .map((part) => (part.kind === "markdown" ? part.content : ""))
      .join("\n\n")
      .trim();
  return (
    <footer class="ending">
      {state === "cancelled" && <p class="note">Stopped.</p>}
      {!isActive && turn.responseParts.some((part) => part.kind === "markdown") && (
        <Copy text={text} label="Copy answer" />
      )}
      {!isActive && isOpen && <Again turn={turn} isRetry={state !== "complete" && !canResume} />}
      {turn.usage && <UsageView usage={turn.usage} />}
    </footer>
  );
}

/** Regenerates the answer. For a turn that failed or was stopped, the label says "Retry". */
function Again({ turn, isRetry }: { turn: Turn | ActiveTurn; isRetry: boolean }) {
  const { regenerate, isBusy } = useAccess();
  return (
    <button
      type="button"
      class="quiet small"
      title={isRetry ? undefined : "Regenerate"}
      aria-label={isRetry ? undefined : "Regenerate"}
      disabled={isBusy.value}
      onClick={() => regenerate(turn.id)}
    >
      <Icon name="retry" /> {isRetry && "Retry"}
    </button>
  );
}

/** Return the usage of a turn in words. */
export function UsageView({ usage }: { usage: UsageInfo }) {
  const pieces = [
    usage.inputTokens !== undefined && `${count(usage.inputTokens)} in`,
    usage.cacheReadTokens !== undefined &&
      usage.cacheReadTokens > 0 &&
      `${count(usage.cacheReadTokens)} cached`,
    usage.outputTokens !== undefined && `${count(usage.outputTokens)} out`,
    usage.model,
  ].filter(Boolean);
  return pieces.length > 0 ? (
    <small class="usage faint" title="Tokens">
      {pieces.join(" · ")}
    </small>
  ) : null;
}

function count(tokens: number): string {
  return tokens < 10_000 ? tokens.toLocaleString() : `${(tokens / 1000).toFixed(tokens < 100_000 ? 1 : 0)}k`;
}
