/** The form for a key, if the server requires one. */
import { useSignal } from "@preact/signals";
import { useId } from "preact/hooks";
import { client } from "../ahp";
import { Dialog } from "./parts/dialog";

/** Ask for the key. */
export function Locked() {
  const key = useSignal("");
  const remember = useSignal(false);
  const id = useId();
  const connection = client.connection.value;
  const isWrong = connection.phase === "locked" && connection.reason === "wrong";
  return (
    <Dialog title="A key is needed" class="narrow">
      <form
        class="stack"
        onSubmit={(event) => {
          event.preventDefault();
          if (key.value.trim()) client.useKey(key.value.trim(), remember.value ? "browser" : "tab");
        }}
      >
        <div class="field">
          <label for={id}>API key of this server</label>
          <input
            id={id}
            type="password"
            autocomplete="current-password"
            autofocus
            value={key.value}
            aria-invalid={isWrong}
            aria-describedby={`${id}-hint`}
            onInput={(event) => (key.value = event.currentTarget.value)}
          />
          <small id={`${id}-hint`} class={isWrong ? "problem" : "faint"}>
            {isWrong
              ? "This key is not valid, or no longer."
              : "agenthost token prints one for a server without keys; agenthost keys create makes one."}
          </small>
        </div>
        <label class="choice">
          <input
            type="checkbox"
            checked={remember.value}
            onChange={(event) => (remember.value = event.currentTarget.checked)}
          />
          Remember it in this browser
        </label>
        <footer>
          <button type="submit" class="primary">
            Connect
          </button>
        </footer>
      </form>
    </Dialog>
  );
}
