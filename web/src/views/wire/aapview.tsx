/** The same turn over AAP: a shell command, and a button that sends it and lists the events live. */
import { useSignal } from "@preact/signals";
import { useEffect, useId, useRef } from "preact/hooks";
import { type AapTurn, aapIdOf, curlOf, sendTurn } from "../../aap";
import { keyOf } from "../../ahp/browser";
import { Copy } from "../parts/copy";
import { Icon } from "../parts/icon";

interface Heard {
  readonly name: string;
  readonly data: string;
  /** Milliseconds since it was sent. */
  readonly after: number;
}

const MOST_SHOWN = 1000;

/** Show a turn of this session over AAP; `text` is the initial message. */
export function AapView({ session, text }: { session: string | undefined; text: string }) {
  const said = useSignal<string | undefined>(undefined);
  const stream = useSignal<AapTurn["stream"]>("delta");
  const sending = useSending();
  const id = useId();
  if (!session) return <div class="empty">Open a session, to send a turn to it.</div>;
  const turn: AapTurn = { session, text: said.value ?? text, stream: stream.value };
  const curl = curlOf(turn, location.origin, keyOf() !== undefined);
  return (
    <div class="aap scroll grow">
      <p class="faint">
        AAP knows this session as <span class="mono">{aapIdOf(session)}</span>. What is sent there is seen
        here, and by everybody who watches.
      </p>
      <div class="field">
        <label for={`${id}-text`}>Message</label>
        <textarea
          id={`${id}-text`}
          rows={2}
          value={turn.text}
          onInput={(event) => (said.value = event.currentTarget.value)}
        />
      </div>
      <div class="row">
        <select
          aria-label="Stream"
          value={stream.value}
          onChange={(event) => (stream.value = event.currentTarget.value as AapTurn["stream"])}
        >
          <option value="delta">stream: delta</option>
          <option value="message">stream: message</option>
          <option value="none">stream: none</option>
        </select>
        {sending.isOpen.value ? (
          <button type="button" onClick={sending.stop}>
            <Icon name="stop" /> Stop listening
          </button>
        ) : (
          <button
            type="button"
            class="primary"
            disabled={!turn.text.trim()}
            onClick={() => void sending.send(turn)}
          >
            <Icon name="send" /> Send over AAP
          </button>
        )}
      </div>
      <figure class="code curl">
        <figcaption>
          <span>the same from a shell</span>
          <Copy text={curl} label="Copy the curl line" />
        </figcaption>
        <pre tabIndex={0} role="region" aria-label="curl line">
          {curl}
        </pre>
      </figure>
      {sending.problem.value && <p class="failure">{sending.problem.value}</p>}
      <Events heard={sending.heard.value} isOpen={sending.isOpen.value} />
    </div>
  );
}

function Events({ heard, isOpen }: { heard: readonly Heard[]; isOpen: boolean }) {
  if (heard.length === 0 && !isOpen) return null;
  return (
    <section aria-label="Events">
      <h3>
        {heard.length} event{heard.length === 1 ? "" : "s"}{" "}
        {isOpen && <span class="spinner" aria-hidden="true" />}
      </h3>
      <ol class="events">
        {heard.slice(-MOST_SHOWN).map((event, at) => (
          <li key={at}>
            <span class="faint">+{Math.round(event.after)} ms</span>
            <strong>{event.name}</strong>
            <span>{event.data}</span>
          </li>
        ))}
      </ol>
    </section>
  );
}

/** Sends a turn and collects its events. A new turn, or leaving, ends the old one. */
function useSending() {
  const heard = useSignal<readonly Heard[]>([]);
  const isOpen = useSignal(false);
  const problem = useSignal("");
  const abort = useRef<AbortController | undefined>(undefined);
  const stop = () => abort.current?.abort();
  useEffect(() => stop, []);
  const send = async (turn: AapTurn) => {
    stop();
    const mine = new AbortController();
    abort.current = mine;
    const begun = performance.now();
    const events: Heard[] = [];
    let isDrawn = false;
    const draw = () => {
      isDrawn = false;
      heard.value = [...events];
    };
    heard.value = [];
    problem.value = "";
    isOpen.value = true;
    try {
      for await (const { name, data } of sendTurn(turn, keyOf(), mine.signal)) {
        events.push({ name, data, after: performance.now() - begun });
        if (!isDrawn) requestAnimationFrame(draw);
        isDrawn = true;
      }
    } catch (error) {
      if (!mine.signal.aborted) problem.value = (error as Error).message;
    } finally {
      if (abort.current === mine) {
        draw();
        isOpen.value = false;
      }
    }
  };
  return { heard, isOpen, problem, send, stop };
}
