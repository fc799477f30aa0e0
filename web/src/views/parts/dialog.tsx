/** Dialogs on the browser's own element: it holds the focus, closes with Esc, and gives the focus back. */
import { signal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useEffect, useId, useRef } from "preact/hooks";
import { Icon } from "./icon";

interface DialogProps {
  title: string;
  onClose: () => void;
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
        onClose();
      }}
      onMouseDown={(event) => event.target === element.current && onClose()}
    >
      <div class="dialog-body">
        <header>
          <h2 id={heading}>{title}</h2>
          <button type="button" class="quiet" aria-label="Close" onClick={onClose}>
            <Icon name="close" />
          </button>
        </header>
        {children}
      </div>
    </dialog>
  );
}

interface Question {
  readonly title: string;
  readonly text: string;
  readonly yes: string;
  readonly answer: (yes: boolean) => void;
}

const question = signal<Question | undefined>(undefined);

/** Ask whether something that cannot be undone is meant. */
export function confirm(title: string, text: string, yes: string): Promise<boolean> {
  return new Promise((resolve) => {
    question.value?.answer(false);
    const answer = (is: boolean) => {
      question.value = undefined;
      resolve(is);
    };
    question.value = { title, text, yes, answer };
  });
}

/** Where `confirm` asks. */
export function Confirmation() {
  const asked = question.value;
  if (!asked) return null;
  return (
    <Dialog key={asked.title} title={asked.title} class="narrow" onClose={() => asked.answer(false)}>
      <p>{asked.text}</p>
      <footer>
        <button type="button" autofocus onClick={() => asked.answer(false)}>
          Cancel
        </button>
        <button type="button" class="danger" onClick={() => asked.answer(true)}>
          {asked.yes}
        </button>
      </footer>
    </Dialog>
  );
}
