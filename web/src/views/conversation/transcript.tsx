/**
 * The turns of a conversation, the newest at the bottom and in view, unless the user scrolled up.
 *
 * Only some are rendered at once; the rest follow when the browser is idle, or when the user scrolls up.
 */
import { type Signal, useSignal } from "@preact/signals";
import { useEffect, useLayoutEffect, useRef } from "preact/hooks";
import { isResumable } from "../../ahp/reducers/turns";
import type { ChatState } from "../../ahp/wire";
import { Icon } from "../parts/icon";
import { useSticking } from "./sticking";
import { TurnView } from "./turnview";
import { waitsForPerson } from "./waiting";

const AT_FIRST = 12;
const AT_A_TIME = 12;
/** How many turns are rendered initially. */
const UNASKED = 200;

/** Show the turns. When `sent` changes, a message was sent here, and the end is shown. */
export function Transcript({ chat, sent }: { chat: ChatState; sent: number }) {
  const scroller = useRef<HTMLDivElement>(null);
  const { turns, activeTurn } = chat;
  const isWaiting = waitsForPerson(chat);
  const last = turns.at(-1);
  const resumable = !activeTurn && last && isResumable(last) ? last : undefined;
  const all = activeTurn ? [...turns, activeTurn] : turns;
  // The first rendered turn. It only moves up, so that no turn disappears when others are added.
  const from = useSignal(Math.max(0, turns.length - AT_FIRST));
  const hidden = Math.min(from.value, turns.length);
  const makeEarlier = useEarlier(scroller, from, hidden);
  useWhenIdle(makeEarlier, hidden > 0 && turns.length - hidden < UNASKED, hidden);
  const sticking = useSticking(scroller, sent);
  const onScroll = () => {
    sticking.look();
    if (hidden > 0 && scroller.current && scroller.current.scrollTop < scroller.current.clientHeight)
      makeEarlier();
  };
  return (
    <div class="transcript-holder">
      <div
        ref={scroller}
        class={sticking.isStuck.value ? "transcript scroll stuck" : "transcript scroll"}
        tabIndex={0}
        role="region"
        aria-label="Conversation"
        onScroll={onScroll}
      >
        {hidden > 0 && (
          <button type="button" class="quiet earlier" onClick={makeEarlier}>
            {hidden} earlier turns
          </button>
        )}
        <ol class="turns">
          {all.slice(hidden).map((turn, at) => (
            <TurnView
              key={turn.id}
              turn={turn}
              number={hidden + at + 1}
              isActive={turn === activeTurn}
              isWaiting={turn === activeTurn && isWaiting}
              canResume={turn === resumable}
            />
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

/** Returns a function that renders earlier turns. It keeps the scroll position, as browsers do not at the very top. */
function useEarlier(
  scroller: { readonly current: HTMLDivElement | null },
  from: Signal<number>,
  hidden: number,
): () => void {
  const below = useRef<number | undefined>(undefined);
  useLayoutEffect(() => {
    const element = scroller.current;
    if (element && below.current !== undefined) element.scrollTop = element.scrollHeight - below.current;
    below.current = undefined;
  }, [hidden]);
  return () => {
    const element = scroller.current;
    if (element) below.current = element.scrollHeight - element.scrollTop;
    from.value = Math.max(0, hidden - AT_A_TIME);
  };
}

/** Run a function when the browser is idle, again for each new `key`. */
function useWhenIdle(run: () => void, isWanted: boolean, key: number): void {
  useEffect(() => {
    if (!isWanted) return;
    const idle = globalThis.requestIdleCallback ?? ((later: () => void) => setTimeout(later, 50));
    const handle = idle(run);
    return () => (globalThis.cancelIdleCallback ?? clearTimeout)(handle as number);
  }, [isWanted, key]);
}
