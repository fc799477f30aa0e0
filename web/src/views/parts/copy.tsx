/** A button that copies, and says that it did. */
import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { Icon } from "./icon";
import { toast } from "./toasts";

const SHOWN_MS = 1500;

interface CopyProps {
  /** The text to copy, or a function that makes it. */
  text: string | (() => string);
  label?: string;
  class?: string;
}

/** Copy a text to the clipboard. */
export function Copy({ text, label = "Copy", class: more = "" }: CopyProps) {
  const done = useSignal(false);
  useEffect(() => {
    if (!done.value) return;
    const timer = setTimeout(() => (done.value = false), SHOWN_MS);
    return () => clearTimeout(timer);
  }, [done.value]);
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(typeof text === "string" ? text : text());
      done.value = true;
    } catch {
      toast("This browser does not let the page copy here. Select the text instead.", "error");
    }
  };
  return (
    <button type="button" class={`quiet small ${more}`} title={label} aria-label={label} onClick={copy}>
      <Icon name={done.value ? "check" : "copy"} />
      <span class="copy-word" aria-live="polite">
        {done.value ? "Copied" : ""}
      </span>
    </button>
  );
}
