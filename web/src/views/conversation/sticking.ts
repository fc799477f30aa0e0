/**
 * Following an answer: the end stays in view while the content grows, until a person scrolls up.
 *
 * A scroll event does not say who scrolled. Fields that grow and parts that fold move the content too, so only
 * scrolling after a wheel, touch, key or button event counts as the user's.
 */
import { useSignal } from "@preact/signals";
import { useEffect, useLayoutEffect, useRef } from "preact/hooks";

/** This close to the end counts as the end. */
const NEAR = 60;
/** A gesture moves the content within this time, in milliseconds. */
const GESTURE_MS = 500;
/** A scroll that glides on moves at least this often. */
const GLIDE_MS = 200;

type Scroller = { readonly current: HTMLDivElement | null };

/** Stick to the end while the user is there. When `sent` changes, a message was sent here, and the end is shown. */
export function useSticking(scroller: Scroller, sent: number) {
  const isStuck = useSignal(true);
  const last = useRef(0);
  const hand = useHand(scroller);
  const goToEnd = () => {
    isStuck.value = true;
    const element = scroller.current;
    if (!element) return;
    element.scrollTop = element.scrollHeight;
    last.current = element.scrollTop;
  };
  useEffect(() => {
    const element = scroller.current;
    if (!element) return;
    // After layout and before anything is drawn: no jump is visible, and nothing is laid out twice.
    const observer = new ResizeObserver(() => isStuck.value && goToEnd());
    observer.observe(element);
    for (const child of element.children) observer.observe(child);
    return () => observer.disconnect();
  }, []);
  useLayoutEffect(() => {
    goToEnd(); // after sending, the user wants to see the answer
  }, [sent]);
  const look = () => {
    const element = scroller.current;
    if (!element) return;
    const { scrollTop, scrollHeight, clientHeight } = element;
    const left = scrollHeight - scrollTop - clientHeight;
    // Only scrolling up from where we were leaves the end, even a little: content that became shorter is
    // at its end, and the end may have moved down since we went there.
    if (scrollTop < last.current - 1 && left > 1) {
      if (hand.moves()) isStuck.value = false;
    } else if (left < NEAR) isStuck.value = true;
    last.current = scrollTop;
  };
  return { isStuck, goToEnd, look };
}

/** Detects whether the user is scrolling: `moves` is called when the content moved up. */
function useHand(scroller: Scroller): { moves(): boolean } {
  const until = useRef(0);
  const isHeld = useRef(false);
  useEffect(() => {
    const element = scroller.current;
    if (!element) return;
    const touched = () => (until.current = performance.now() + GESTURE_MS);
    const stop = new AbortController();
    const quietly = { passive: true, signal: stop.signal };
    element.addEventListener("wheel", touched, quietly);
    element.addEventListener("touchmove", touched, quietly);
    // The scrollbar, and text that is selected beyond the edge. Some browsers do not say when a scrollbar is let go.
    element.addEventListener("pointerdown", () => (isHeld.current = true), quietly);
    for (const kind of ["pointerup", "pointercancel"] as const)
      addEventListener(kind, () => (isHeld.current = false), quietly);
    addEventListener("pointermove", (event) => event.buttons === 0 && (isHeld.current = false), quietly);
    // Keys scroll, and move the focus to what is further up; but those that are typed into a field do neither.
    addEventListener("keydown", (event) => (event.key === "Tab" || !isTyped(event)) && touched(), quietly);
    return () => stop.abort();
  }, []);
  const moves = () => {
    const now = performance.now();
    if (!isHeld.current && now > until.current) return false;
    until.current = Math.max(until.current, now + GLIDE_MS);
    return true;
  };
  return { moves };
}

function isTyped({ target }: KeyboardEvent): boolean {
  return target instanceof HTMLElement && /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName);
}
