/** Dialogs on the browser's own element: it traps the focus, closes with Esc, and restores the focus. */
import { signal, useSignal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useEffect, useId, useRef } from "preact/hooks";
import { Icon } from "./icon";

interface DialogProps {
  title: string;
  /** Called when it closes. Without it the dialog cannot be closed: it has to be answered. */
  onClose?: () => void;
  children: ComponentChildren;
  class?: string;
}

/** Show a dialog for as long as this is rendered. */
export function Dialog({ title, onClose, children, class: more = "" }: DialogProps) {
  const element = useRef<HTMLDialogElement>(null);
  const heading = useId();
  useEffect(() => {
    const before = document.activeElement;
    element.current?.showModal();
    return () => {
      if (before instanceof HTMLElement && before.isConnected) before.focus();
    };
  }, []);
  return (
    <dialog
      ref={element}
      class={`dialog ${more}`}
      aria-labelledby={heading}
      onCancel={(event) => {
        event.preventDefault();
        onClose?.();
      }}
      // A browser closes it at the second Esc, even if the first was prevented.
      onClose={() => (onClose ? onClose() : element.current?.showModal())}
      onMouseDown={(event) => event.target === element.current && onClose?.()}
      onKeyDown={(event) => event.stopPropagation()}
    >
      <div class="dialog-body">
        <header>
          <h2 id={heading}>{title}</h2>
          {onClose && (
            <button type="button" class="quiet" aria-label="Close" onClick={onClose}>
              <Icon name="close" />
            </button>
          )}
        </header>
        {children}
      </div>
    </dialog>
  );
}

interface Asked {
  readonly title: string;
  readonly text: string;
  readonly yes: string;
  /** For a question that is answered with text: the initial text. */
  readonly value?: string;
  readonly answer: (value: string | undefined) => void;
}

const asked = signal<Asked | undefined>(undefined);

function ask(question: Omit<Asked, "answer">): Promise<string | undefined> {
  return new Promise((resolve) => {
    asked.value?.answer(undefined);
    const answer = (value: string | undefined) => {
      asked.value = undefined;
      resolve(value);
    };
    asked.value = { ...question, answer };
  });
}

/** Ask for confirmation of something that cannot be undone. */
export async function confirm(title: string, text: string, yes: string): Promise<boolean> {
  return (await ask({ title, text, yes })) !== undefined;
}

/** Ask for a line of text; nothing if the user cancels. */
export async function askFor(
  title: string,
  label: string,
  value: string,
  yes: string,
): Promise<string | undefined> {
  return (await ask({ title, text: label, yes, value }))?.trim() || undefined;
}

/** The dialog of `confirm` and `askFor`. */
export function Questions() {
  const question = asked.value;
  return question ? <Question key={question.title} question={question} /> : null;
}

function Question({ question }: { question: Asked }) {
  const value = useSignal(question.value ?? "");
  const field = useRef<HTMLInputElement>(null);
  const id = useId();
  const isLine = question.value !== undefined;
  useEffect(() => field.current?.select(), []);
  return (
    <Dialog title={question.title} class="narrow" onClose={() => question.answer(undefined)}>
      <form
        class="stack"
        onSubmit={(event) => {
          event.preventDefault();
          question.answer(value.value);
        }}
      >
        {isLine ? (
          <div class="field">
            <label for={id}>{question.text}</label>
            <input
              ref={field}
              id={id}
              type="text"
              dir="auto"
              autofocus
              value={value.value}
              onInput={(event) => (value.value = event.currentTarget.value)}
            />
          </div>
        ) : (
          <p>{question.text}</p>
        )}
        <footer>
          <button type="button" autofocus={!isLine} onClick={() => question.answer(undefined)}>
            Cancel
          </button>
          <button type="submit" class={isLine ? "primary" : "danger"}>
            {question.yes}
          </button>
        </footer>
      </form>
    </Dialog>
  );
}
