/** The connection status, shown prominently while something is wrong. */
import { signal, useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { client } from "../ahp";
import { Icon } from "./parts/icon";

/** A connection that is established quickly needs no message. */
const SHOWN_AFTER_MS = 400;
const BACK_MS = 2500;
const now = signal(Date.now());

/** Show the banner, if there is something to say. */
export function Banner() {
  const connection = client.connection.value;
  const { phase } = connection;
  const wasLost = useSignal(false);
  const isLate = useSignal(false);
  const isBack = useSignal(false);
  useEffect(() => {
    if (phase === "waiting" || phase === "failed") wasLost.value = true;
    if (phase === "connected" && wasLost.value) {
      wasLost.value = false;
      isBack.value = true;
    }
    isLate.value = false;
    const late = setTimeout(() => (isLate.value = true), SHOWN_AFTER_MS);
    const back = setTimeout(() => (isBack.value = false), BACK_MS);
    const tick = phase === "waiting" ? setInterval(() => (now.value = Date.now()), 500) : undefined;
    return () => {
      clearTimeout(late);
      clearTimeout(back);
      clearInterval(tick);
    };
  }, [phase]);
  return (
    <div role="status" class="banner-holder">
      {connection.phase === "connected" && isBack.value && (
        <div class="banner good">{wordsOf(connection.how)}</div>
      )}
      {connection.phase === "connecting" && (isLate.value || wasLost.value) && (
        <div class="banner">
          <span class="spinner" aria-hidden="true" /> Connecting
        </div>
      )}
      {connection.phase === "waiting" && (
        <div class="banner">
          <Icon name="wire" />
          <span>The connection is lost: {connection.reason}.</span>
          <span aria-hidden="true">
            Next try in {Math.max(0, Math.ceil((connection.retryAt - now.value) / 1000))} s.
          </span>
          <Retry />
        </div>
      )}
      {connection.phase === "failed" && (
        <div class="banner bad">
          <span>{connection.reason}</span>
          <Retry />
        </div>
      )}
    </div>
  );
}

function wordsOf(how: "initialize" | "replay" | "snapshot"): string {
  if (how === "replay") return "Connected again; what was missed is here.";
  return how === "snapshot" ? "Connected again; everything was read anew." : "Connected again.";
}

function Retry() {
  return (
    <button type="button" class="small" onClick={() => client.retry()}>
      Try now
    </button>
  );
}
