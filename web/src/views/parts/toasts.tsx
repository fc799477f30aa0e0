/** Toasts: short sentences in a corner, for what went wrong or was done. Errors stay until they are dismissed. */
import { signal } from "@preact/signals";
import { Icon } from "./icon";

type Kind = "info" | "error";

interface Toast {
  readonly id: number;
  readonly text: string;
  readonly kind: Kind;
}

const INFO_MS = 4000;
const MOST = 4;
const toasts = signal<readonly Toast[]>([]);
let count = 0;

/** Show a sentence. One that is already shown is not repeated. */
export function toast(text: string, kind: Kind = "info"): void {
  const rest = toasts.value.filter((one) => one.text !== text);
  const id = ++count;
  toasts.value = [...rest, { id, text, kind }].slice(-MOST);
  if (kind === "info") setTimeout(() => dismiss(id), INFO_MS);
}

/** Show what went wrong, in the words of the error. */
export function toastError(error: unknown, what?: string): void {
  const words = error instanceof Error ? error.message : String(error);
  toast(what ? `${what}: ${words}` : words, "error");
}

function dismiss(id: number): void {
  toasts.value = toasts.value.filter((one) => one.id !== id);
}

/** The corner with the toasts. */
export function Toasts() {
  return (
    <section class="toasts" aria-label="Notices">
      <div role="status">{toasts.value.filter((one) => one.kind === "info").map(View)}</div>
      <div role="alert">{toasts.value.filter((one) => one.kind === "error").map(View)}</div>
    </section>
  );
}

function View(one: Toast) {
  return (
    <div key={one.id} class={`toast ${one.kind}`}>
      <span>{one.text}</span>
      <button type="button" class="quiet small" aria-label="Dismiss" onClick={() => dismiss(one.id)}>
        <Icon name="close" />
      </button>
    </div>
  );
}
