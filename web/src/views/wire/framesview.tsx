/** The messages of the connection: a list of any length, and the selected one in full. */
import { useSignal } from "@preact/signals";
import { useRef } from "preact/hooks";
import { client, type Frame } from "../../ahp";
import { bytes } from "../files/reading";
import { Code } from "../parts/code";
import { Copy } from "../parts/copy";
import { Icon } from "../parts/icon";
import {
  EVERYTHING,
  filterFrames,
  KINDS,
  lineOf,
  messageOf,
  type Line,
  noteChannels,
  noteRequests,
  type WireFilter,
} from "./filter";
import { FrameList } from "./framelist";

const LONGEST_SHOWN = 200_000;

/** Show the messages. */
export function FramesView() {
  const { tap } = client;
  const filter = useSignal<WireFilter>(EVERYTHING);
  const paused = useSignal<readonly Frame[] | undefined>(undefined);
  const chosen = useSignal<Frame | undefined>(undefined);
  const requests = useRef(new Map<string, Line>());
  const channels = useRef(new Set<string>());
  const seen = useRef(0);
  if (!paused.value) tap.version.value; // watched, unless it is paused
  const all = paused.value ?? tap.frames();
  noteChannels(all, channels.current, seen.current);
  seen.current = noteRequests(all, requests.current, seen.current);
  const frames = filterFrames(all, filter.value, requests.current);
  return (
    <>
      <FilterBar
        filter={filter.value}
        channels={[...channels.current]}
        onChange={(next) => (filter.value = next)}
      >
        <button
          type="button"
          class="quiet"
          aria-pressed={paused.value !== undefined}
          title={paused.value ? "Go on" : "Pause"}
          aria-label="Pause"
          onClick={() => (paused.value = paused.value ? undefined : tap.frames())}
        >
          <Icon name={paused.value ? "play" : "pause"} />
        </button>
        <button
          type="button"
          class="quiet"
          title="Clear"
          aria-label="Clear"
          onClick={() => {
            tap.clear();
            channels.current.clear();
            paused.value = undefined;
            chosen.value = undefined;
          }}
        >
          <Icon name="remove" />
        </button>
      </FilterBar>
      <FrameList
        frames={frames}
        requests={requests.current}
        chosen={chosen.value}
        onChoose={(frame) => (chosen.value = frame)}
      />
      {chosen.value && (
        <FrameDetail key={chosen.value.n} frame={chosen.value} onClose={() => (chosen.value = undefined)} />
      )}
      <p class="wire-totals faint" role="status" aria-live="off">
        {frames.length.toLocaleString()} of {all.length.toLocaleString()} shown · in{" "}
        {tap.totals.in.toLocaleString()} ({bytes(tap.totals.bytesIn)}) · out {tap.totals.out.toLocaleString()}{" "}
        ({bytes(tap.totals.bytesOut)})
      </p>
    </>
  );
}

interface FilterBarProps {
  filter: WireFilter;
  channels: readonly string[];
  onChange: (filter: WireFilter) => void;
  children: preact.ComponentChildren;
}

function FilterBar({ filter, channels, onChange, children }: FilterBarProps) {
  return (
    <div class="wire-filter" role="search" aria-label="Messages">
      <input
        type="search"
        placeholder="Filter"
        aria-label="Filter by text"
        value={filter.text}
        onInput={(event) => onChange({ ...filter, text: event.currentTarget.value })}
      />
      <select
        aria-label="Direction"
        value={filter.direction}
        onChange={(event) =>
          onChange({ ...filter, direction: event.currentTarget.value as WireFilter["direction"] })
        }
      >
        <option value="both">in and out</option>
        <option value="in">in</option>
        <option value="out">out</option>
      </select>
      <select
        aria-label="Kind"
        value={filter.kind}
        onChange={(event) => onChange({ ...filter, kind: event.currentTarget.value as WireFilter["kind"] })}
      >
        <option value="all">all kinds</option>
        {KINDS.map((kind) => (
          <option key={kind} value={kind}>
            {kind}
          </option>
        ))}
      </select>
      <select
        class="channel"
        aria-label="Channel"
        value={filter.channel ?? ""}
        onChange={(event) => onChange({ ...filter, channel: event.currentTarget.value || undefined })}
      >
        <option value="">all channels</option>
        {channels.map((channel) => (
          <option key={channel} value={channel}>
            {channel}
          </option>
        ))}
      </select>
      {children}
    </div>
  );
}

function FrameDetail({ frame, onClose }: { frame: Frame; onClose: () => void }) {
  const message = messageOf(frame);
  const text = message ? JSON.stringify(message, null, 2) : frame.text;
  const isLong = text.length > LONGEST_SHOWN;
  return (
    <section class="frame-detail" aria-label={`Message ${frame.n}`}>
      <div class="card-head">
        <span class="grow mono">
          {frame.kind === "in" ? "← " : frame.kind === "out" ? "→ " : ""}
          {lineOf(frame).name || lineOf(frame).kind} · {new Date(frame.at).toISOString().slice(11, 23)} ·{" "}
          {bytes(frame.size)}
        </span>
        <Copy text={frame.text} label="Copy as sent" />
        <button type="button" class="quiet small" aria-label="Close" onClick={onClose}>
          <Icon name="close" />
        </button>
      </div>
      <div class="scroll grow">
        {isLong && <p class="faint pad">The beginning of it; copying gives all.</p>}
        <Code
          text={isLong ? text.slice(0, LONGEST_SHOWN) : text}
          language={message ? "json" : ""}
          label="JSON"
        />
      </div>
    </section>
  );
}
