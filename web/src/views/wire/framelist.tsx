/** A list of any number of frames, of which only the visible ones are rendered. It sticks to the newest while scrolled to the end. */
import { useSignal } from "@preact/signals";
import { memo } from "preact/compat";
import { useEffect, useId, useLayoutEffect, useRef } from "preact/hooks";
import type { Frame } from "../../ahp";
import { bytes } from "../files/reading";
import { type Line, lineOf, requestOf, type Requests } from "./filter";

const ROW = 24;
const AROUND = 10;

interface FrameListProps {
  frames: readonly Frame[];
  requests: Requests;
  chosen: Frame | undefined;
  onChoose: (frame: Frame | undefined) => void;
}

/** Show frames. */
export function FrameList({ frames, requests, chosen, onChoose }: FrameListProps) {
  const scroller = useRef<HTMLDivElement>(null);
  const top = useSignal(0);
  const height = useSignal(400);
  const isStuck = useRef(true);
  const id = useId();
  const current = useRef<number | undefined>(undefined);
  useEffect(() => {
    const element = scroller.current;
    if (!element) return;
    const observer = new ResizeObserver(() => (height.value = element.clientHeight));
    observer.observe(element);
    return () => observer.disconnect();
  }, []);
  useLayoutEffect(() => {
    if (isStuck.current && scroller.current) scroller.current.scrollTop = frames.length * ROW;
  }, [frames]);
  const first = Math.max(0, Math.floor(top.value / ROW) - AROUND);
  const last = Math.min(frames.length, Math.ceil((top.value + height.value) / ROW) + AROUND);
  const at = chosen ? frames.indexOf(chosen) : -1;
  const go = (to: number) => {
    const frame = frames[Math.max(0, Math.min(frames.length - 1, to))];
    const element = scroller.current;
    if (!frame || !element) return;
    isStuck.current = false;
    current.current = frame.n;
    onChoose(frame);
    const place = frames.indexOf(frame) * ROW;
    if (place < element.scrollTop) element.scrollTop = place;
    else if (place + ROW > element.scrollTop + element.clientHeight)
      element.scrollTop = place + ROW - element.clientHeight;
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const page = Math.max(1, Math.floor(height.value / ROW) - 1);
    const steps: Readonly<Record<string, number>> = {
      ArrowDown: 1,
      ArrowUp: -1,
      PageDown: page,
      PageUp: -page,
    };
    const by = steps[event.key];
    if (by !== undefined) go(at < 0 ? frames.length - 1 : at + by);
    else if (event.key === "Home") go(0);
    else if (event.key === "End") go(frames.length - 1);
    else if (event.key === "Escape" && chosen) onChoose(undefined);
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  return (
    <div
      ref={scroller}
      class="frames scroll mono"
      role="listbox"
      aria-label="Messages"
      tabIndex={0}
      aria-activedescendant={chosen && at >= first && at < last ? `${id}-${chosen.n}` : undefined}
      onKeyDown={onKeyDown}
      onScroll={(event) => {
        const element = event.currentTarget;
        top.value = element.scrollTop;
        isStuck.current = element.scrollHeight - element.scrollTop - element.clientHeight < ROW;
      }}
    >
      <div class="frames-space" style={{ height: `${frames.length * ROW}px` }} role="presentation">
        {frames.slice(first, last).map((frame, place) => (
          <FrameRow
            key={frame.n}
            id={`${id}-${frame.n}`}
            frame={frame}
            request={requestOf(frame, requests)}
            place={first + place}
            count={frames.length}
            isChosen={frame === chosen}
            onChoose={onChoose}
          />
        ))}
      </div>
    </div>
  );
}

interface FrameRowProps {
  id: string;
  frame: Frame;
  /** What it answers. */
  request: Line | undefined;
  place: number;
  count: number;
  isChosen: boolean;
  onChoose: (frame: Frame | undefined) => void;
}

const ARROWS = { in: "←", out: "→", note: "•" } as const;
const DIRECTIONS = { in: "in", out: "out", note: "note" } as const;

const FrameRow = memo(function FrameRow({
  id,
  frame,
  request,
  place,
  count,
  isChosen,
  onChoose,
}: FrameRowProps) {
  const line = lineOf(frame);
  const channel = line.channel || request?.channel;
  return (
    <div
      id={id}
      class={`frame ${frame.kind} ${line.kind}`}
      role="option"
      aria-selected={isChosen}
      aria-posinset={place + 1}
      aria-setsize={count}
      style={{ transform: `translateY(${place * ROW}px)` }}
      onClick={() => onChoose(isChosen ? undefined : frame)}
    >
      <span class="arrow" aria-label={DIRECTIONS[frame.kind]}>
        {ARROWS[frame.kind]}
      </span>
      <time>{new Date(frame.at).toISOString().slice(11, 23)}</time>
      <span class="seq">{line.serverSeq ?? ""}</span>
      <span class="name">
        {line.kind === "response" || line.kind === "error" ? <span class="kind">{line.kind}</span> : null}
        {line.kind === "error" ? `${request?.name ?? ""} ${line.name}` : line.name || request?.name}
        {line.id && <span class="faint"> #{line.id}</span>}
      </span>
      <span class="about faint" title={channel}>
        {[line.about, channel].filter(Boolean).join(" · ")}
      </span>
      <span class="size faint">{frame.size > 0 ? bytes(frame.size) : ""}</span>
    </div>
  );
});
