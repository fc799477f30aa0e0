/** Where messages are written. While a turn runs, they wait in the queue or steer it. */
import { useSignal } from "@preact/signals";
import { useEffect, useId, useRef } from "preact/hooks";
import type { SessionState, UserMessage } from "../../ahp/wire";
import { Icon } from "../parts/icon";
import { newId } from "../parts/ids";
import { toastError } from "../parts/toasts";
import { arrival } from "../route";
import { useAccess } from "./access";
import { CompletionList } from "./completionlist";
import { isTyped, takeCompletion, useCompletions } from "./completions";
import { attachFile, draftOf, EMPTY, isSendable, messageOf } from "./drafts";
import { AttachmentView } from "./messageview";
import { ModelPicker } from "./modelpicker";

interface ComposerProps {
  state: SessionState;
  onSend: (message: UserMessage) => void;
  /** The turn whose message is being changed, if one is. */
  editing: { readonly onCancel: () => void } | undefined;
}

/** Show the field, and what can be done with what is in it. */
export function Composer({ state, onSend, editing }: ComposerProps) {
  const { uri, act } = useAccess();
  const draft = draftOf(uri);
  const field = useRef<HTMLTextAreaElement>(null);
  const list = useId();
  const completing = useCompletions(uri);
  const dropping = useSignal(false);
  const turn = state.activeTurn;
  const isReady = state.lifecycle === "ready";
  const items = completing.items.value;

  useEffect(() => grow(field.current), [draft.value.text]);
  useEffect(() => {
    // Not where it would open a keyboard on the screen.
    if (arrival.takesFocus && matchMedia("(hover: hover)").matches) field.current?.focus();
    arrival.takesFocus = true;
  }, [uri, editing !== undefined]);

  const submit = (steer: boolean) => {
    if (!isSendable(draft.value) || !isReady) return;
    const userMessage = messageOf(draft.value);
    draft.value = EMPTY;
    completing.close();
    if (!turn || editing) onSend(userMessage);
    else
      act({
        type: "session/pendingMessageSet",
        kind: steer ? "steering" : "queued",
        id: newId(),
        userMessage,
      });
  };
  const stop = () => turn && act({ type: "session/turnCancelled", turnId: turn.id });
  const attach = async (files: Iterable<File>) => {
    for (const file of files) {
      try {
        const one = await attachFile(file);
        draft.value = { ...draft.value, attached: [...draft.value.attached, one] };
      } catch (error) {
        toastError(error);
      }
    }
  };
  const take = (at: number) => {
    const item = items[at];
    if (!item || !field.current) return;
    const taken = takeCompletion(draft.value, item, field.current.selectionStart);
    draft.value = taken.draft;
    completing.close();
    requestAnimationFrame(() => {
      field.current?.setSelectionRange(taken.cursor, taken.cursor);
      if (taken.draft.text[taken.cursor - 1] === "/") completing.ask(taken.draft.text, taken.cursor);
    });
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.isComposing) return;
    const isListed = items.length > 0;
    if (isListed && (event.key === "ArrowDown" || event.key === "ArrowUp"))
      completing.move(event.key === "ArrowDown" ? 1 : -1);
    else if (
      isListed &&
      (event.key === "Tab" ||
        (event.key === "Enter" &&
          !event.shiftKey &&
          !isTyped(draft.value.text, items[completing.chosen.value])))
    )
      take(completing.chosen.value);
    else if (isListed && event.key === "Escape") completing.close();
    else if (event.key === "Enter" && !event.shiftKey) submit(event.ctrlKey || event.metaKey);
    else if (event.key === "Escape" && editing) editing.onCancel();
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  return (
    <section
      class={dropping.value ? "composer dropping" : "composer"}
      aria-label="Message"
      data-session={uri}
      onDragOver={(event) => {
        event.preventDefault();
        dropping.value = true;
      }}
      onDragLeave={() => (dropping.value = false)}
      onDrop={(event) => {
        event.preventDefault();
        dropping.value = false;
        void attach(event.dataTransfer?.files ?? []);
      }}
    >
      {editing && (
        <div class="editing">
          <Icon name="edit" />
          <span class="grow">You change a message. What was said after it goes when you send it.</span>
          <button type="button" class="quiet small" onClick={editing.onCancel}>
            Cancel
          </button>
        </div>
      )}
      {items.length > 0 && (
        <CompletionList
          id={list}
          items={items}
          chosen={completing.chosen.value}
          onTake={(item) => take(items.indexOf(item))}
        />
      )}
      {draft.value.attached.some((one) => one.text === undefined) && (
        <ul class="attachments" aria-label="Attachments">
          {draft.value.attached.map((one, at) =>
            one.text === undefined ? (
              <AttachmentView
                key={at}
                attachment={one.attachment}
                onRemove={() =>
                  (draft.value = {
                    ...draft.value,
                    attached: draft.value.attached.filter((_, other) => other !== at),
                  })
                }
              />
            ) : null,
          )}
        </ul>
      )}
      <textarea
        ref={field}
        rows={1}
        aria-label="Message"
        aria-autocomplete="list"
        aria-haspopup="listbox"
        aria-controls={items.length > 0 ? list : undefined}
        aria-activedescendant={items.length > 0 ? `${list}-${completing.chosen.value}` : undefined}
        placeholder={turn ? "Say what comes next, or steer" : "Say something. / for commands, @ for files"}
        disabled={!isReady}
        value={draft.value.text}
        onInput={(event) => {
          const { value, selectionStart } = event.currentTarget;
          draft.value = { ...draft.value, text: value };
          completing.ask(value, selectionStart);
        }}
        onKeyDown={onKeyDown}
        onBlur={completing.close}
        onPaste={(event) => {
          const files = [...(event.clipboardData?.files ?? [])];
          if (files.length === 0) return;
          event.preventDefault();
          void attach(files);
        }}
      />
      <div class="composer-bar">
        <FileButton onFiles={attach} />
        <ModelPicker state={state} />
        <span class="grow" />
        {turn && !editing && (
          <button type="button" class="stop" onClick={stop} title="Stop (Esc)">
            <Icon name="stop" /> Stop
          </button>
        )}
        {turn && !editing && (
          <button
            type="button"
            disabled={!isSendable(draft.value)}
            onClick={() => submit(true)}
            title="Say it into this turn (Ctrl+Enter)"
          >
            Steer
          </button>
        )}
        <button
          type="button"
          class="primary"
          disabled={!isReady || !isSendable(draft.value)}
          onClick={() => submit(false)}
          title="Enter"
        >
          <Icon name={turn && !editing ? "add" : "send"} />
          {turn && !editing ? "Queue" : "Send"}
        </button>
      </div>
    </section>
  );
}

function FileButton({ onFiles }: { onFiles: (files: Iterable<File>) => void }) {
  const input = useRef<HTMLInputElement>(null);
  return (
    <>
      <button
        type="button"
        class="quiet"
        title="Attach files"
        aria-label="Attach files"
        onClick={() => input.current?.click()}
      >
        <Icon name="attach" />
      </button>
      <input
        ref={input}
        type="file"
        multiple
        hidden
        aria-label="Files to attach"
        onChange={(event) => {
          onFiles([...(event.currentTarget.files ?? [])]);
          event.currentTarget.value = "";
        }}
      />
    </>
  );
}

const TALLEST = 240;

function grow(field: HTMLTextAreaElement | null): void {
  if (!field) return;
  field.style.height = "auto";
  field.style.height = `${Math.min(field.scrollHeight + 2, TALLEST)}px`;
}
