/**
 * The turns of a conversation, the newest at the bottom and in view, unless one reads further up.
 *
 * Only some are made at once; the rest follow in quiet moments, or when one scrolls up to them.
 */
import { type Signal, useSignal } from "@preact/signals";
import { useEffect, useLayoutEffect, useRef } from "preact/hooks";
import type { SessionState } from "../../ahp/wire";
import { Icon } from "../parts/icon";
import { TurnView } from "./turnview";

const AT_FIRST = 12;
const AT_A_TIME = 12;
/** So many are made without being asked for. */
const UNASKED = 200;
const NEAR = 60;

/** Show the turns. When `sent` changes, something was said here, and the end is shown. */
export function Transcript({ state, sent }: { state: SessionState; sent: number }) {
  const scroller = useRef<HTMLDivElement>(null);
  const made = useSignal(AT_FIRST);
  const { turns, activeTurn } = state;
  const all = activeTurn ? [...turns, activeTurn] : turns;
  const hidden = Math.max(0, turns.length - made.value);
  useEarlierTurns(made, turns.length, hidden > 0);
  const sticking = useSticking(scroller, sent);
  const onScroll = () => {
    sticking.look();
    if (hidden > 0 && scroller.current && scroller.current.scrollTop < scroller.current.clientHeight)
      made.value += AT_A_TIME;
  };
  return (
    <div class="transcript-holder">
      <div
        ref={scroller}
        class="transcript scroll"
        tabIndex={0}
        role="region"
        aria-label="Conversation"
        onScroll={onScroll}
      >
        {hidden > 0 && (
          <button type="button" class="quiet earlier" onClick={() => (made.value += AT_A_TIME)}>
            {hidden} earlier turns
          </button>
        )}
        <ol class="turns">
          {all.slice(hidden).map((turn, at) => (
            <TurnView key={turn.id} turn={turn} number={hidden + at + 1} isActive={turn === activeTurn} />
          ))}
        </ol>
      </div>
      {!sticking.isStuck.value && (
        <button
          type="button"
          class="to-end"
          title="Go to the end"
          aria-label="Go to the end"
          onClick={sticking.goToEnd}
        >
          <Icon name="down" />
        </button>
      )}
    </div>
  );
}

/** Make earlier turns when nothing else is to be done, up to a number that no page minds. */
function useEarlierTurns(made: Signal<number>, count: number, isMore: boolean): void {
  useEffect(() => {
    if (!isMore || made.value >= UNASKED) return;
    const idle = globalThis.requestIdleCallback ?? ((run: () => void) => setTimeout(run, 50));
    const handle = idle(() => (made.value = Math.min(made.value + AT_A_TIME, UNASKED)));
    return () => (globalThis.cancelIdleCallback ?? clearTimeout)(handle as number);
  }, [made.value, count, isMore]);
}

/** Keep to the end while the content grows, for as long as one is there. */
function useSticking(scroller: { readonly current: HTMLDivElement | null }, sent: number) {
  const isStuck = useSignal(true);
  const goToEnd = () => {
    isStuck.value = true;
    if (scroller.current) scroller.current.scrollTop = scroller.current.scrollHeight;
  };
  useEffect(() => {
    const element = scroller.current;
    if (!element) return;
    // After layout and before anything is drawn: nobody sees it jump, and nothing is laid out twice.
    const observer = new ResizeObserver(() => isStuck.value && goToEnd());
    observer.observe(element);
    for (const child of element.children) observer.observe(child);
    return () => observer.disconnect();
  }, []);
  useLayoutEffect(() => {
    goToEnd(); // whoever says something wants to see the answer
  }, [sent]);
  const look = () => {
    const element = scroller.current;
    if (element) isStuck.value = element.scrollHeight - element.scrollTop - element.clientHeight < NEAR;
  };
  return { isStuck, goToEnd, look };
}
