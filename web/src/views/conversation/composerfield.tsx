/** The field of the composer: it grows with its text, completes what is typed, and takes pasted files. */
import type { Signal } from "@preact/signals";
import { useEffect, useId, useRef } from "preact/hooks";
import type { CompletionItem } from "../../ahp/wire";
import { arrival } from "../route";
import { useAccess } from "./access";
import { CompletionList } from "./completionlist";
import { type Completing, isTyped, takeCompletion, useCompletions } from "./completions";
import { attachFiles, type Draft } from "./drafts";
import { grow } from "./growing";

interface ComposerFieldProps {
  draft: Signal<Draft>;
  placeholder: string;
  isEnabled: boolean;
  isEditing: boolean;
  onSubmit: (isSteering: boolean) => void;
  onEscape: (() => void) | undefined;
}

/** Show the field and its completions. */
export function ComposerField(props: ComposerFieldProps) {
  const { draft, isEditing, isEnabled } = props;
  const { chat, session } = useAccess();
  const field = useRef<HTMLTextAreaElement>(null);
  const list = useId();
  const completing = useCompletions(chat);
  const items = completing.items.value;
  const chosen = completing.chosen.value;
  useEffect(() => grow(field.current), [draft.value.text]);
  const isDue = useRef(false);
  useEffect(() => {
    // Not where it would open a keyboard on the screen.
    isDue.current = arrival.quiet !== session && matchMedia("(hover: hover)").matches;
    arrival.quiet = undefined;
  }, [chat, isEditing]);
  useEffect(() => {
    // While a session is still being made, the field is disabled and cannot take the focus; it gets it later.
    if (!isDue.current || !isEnabled) return;
    isDue.current = false;
    field.current?.focus();
  }, [chat, isEditing, isEnabled]);
  const take = (item: CompletionItem | undefined) => item && takeInto(field.current, draft, item, completing);
  return (
    <>
      {items.length > 0 && <CompletionList id={list} items={items} chosen={chosen} onTake={take} />}
      <textarea
        ref={field}
        rows={1}
        dir="auto"
        aria-label="Message"
        aria-autocomplete="list"
        aria-haspopup="listbox"
        aria-controls={items.length > 0 ? list : undefined}
        aria-activedescendant={items.length > 0 ? `${list}-${chosen}` : undefined}
        placeholder={props.placeholder}
        disabled={!isEnabled}
        value={draft.value.text}
        onInput={(event) => {
          const { value, selectionStart } = event.currentTarget;
          draft.value = { ...draft.value, text: value };
          completing.ask(value, selectionStart);
        }}
        onKeyDown={(event) => {
          if (
            event.isComposing ||
            !(listKey(event, completing, draft, take) || ownKey(event, props, completing))
          )
            return;
          event.preventDefault();
          event.stopPropagation();
        }}
        onBlur={completing.close}
        onPaste={(event) => {
          const files = [...(event.clipboardData?.files ?? [])];
          if (files.length === 0) return;
          event.preventDefault();
          void attachFiles(draft, files);
        }}
      />
    </>
  );
}

function takeInto(
  field: HTMLTextAreaElement | null,
  draft: Signal<Draft>,
  item: CompletionItem,
  completing: Completing,
): void {
  if (!field) return;
  const taken = takeCompletion(draft.value, item, field.selectionStart);
  // At once, not in the next frame: a selection or typed text would be lost by then.
  field.value = taken.draft.text;
  field.setSelectionRange(taken.cursor, taken.cursor);
  draft.value = taken.draft;
  completing.close();
  if (taken.draft.text[taken.cursor - 1] === "/") completing.ask(taken.draft.text, taken.cursor);
}

/** Handle a key while the list is open. Returns whether it was handled. */
function listKey(
  event: KeyboardEvent,
  completing: Completing,
  draft: Signal<Draft>,
  take: (item: CompletionItem | undefined) => void,
): boolean {
  const item = completing.items.value[completing.chosen.value];
  if (!item) return false;
  const isTaken =
    event.key === "Tab" || (event.key === "Enter" && !event.shiftKey && !isTyped(draft.value.text, item));
  if (event.key === "ArrowDown") completing.move(1);
  else if (event.key === "ArrowUp") completing.move(-1);
  else if (event.key === "Escape") completing.close();
  else if (isTaken) take(item);
  else return false;
  return true;
}

/** Handle a key while the list is closed. */
function ownKey(
  event: KeyboardEvent,
  { onSubmit, onEscape }: ComposerFieldProps,
  completing: Completing,
): boolean {
  if (event.key === "Enter" && !event.shiftKey) {
    completing.close();
    onSubmit(event.ctrlKey || event.metaKey);
  } else if (event.key === "Escape" && onEscape) onEscape();
  else return false;
  return true;
}
