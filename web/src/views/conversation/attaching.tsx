/** Attachments of a message that is not sent yet. */
import type { Signal } from "@preact/signals";
import { useRef } from "preact/hooks";
import { Icon } from "../parts/icon";
import type { Draft } from "./drafts";
import { AttachmentView } from "./messageview";

/** The attachments, except those that are mentioned in the text. */
export function AttachedList({ draft }: { draft: Signal<Draft> }) {
  const { attached } = draft.value;
  const listed = attached.filter((one) => one.text === undefined);
  if (listed.length === 0) return null;
  return (
    <ul class="attachments" aria-label="Attachments">
      {listed.map((one, at) => (
        <AttachmentView
          key={at}
          attachment={one.attachment}
          onRemove={() =>
            (draft.value = { ...draft.value, attached: attached.filter((other) => other !== one) })
          }
        />
      ))}
    </ul>
  );
}

/** Choose files. */
export function FileButton({ onFiles }: { onFiles: (files: Iterable<File>) => void }) {
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
