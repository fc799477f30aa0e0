/** The message field of a new session, with its choices as chips. */
import { type Signal, useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { client } from "../../ahp";
import { AttachedList, FileButton } from "../conversation/attaching";
import { attachFiles, type Draft, isSendable } from "../conversation/drafts";
import { grow } from "../conversation/growing";
import { Icon, type IconName } from "../parts/icon";
import type { Choices } from "./choices";
import { FolderPicker } from "./folderpicker";
import { baseName } from "./summaries";

interface StartComposerProps {
  draft: Signal<Draft>;
  choices: Choices;
  options: OptionsChipProps;
  isMaking: boolean;
  onSend: () => void;
}

/** Show the field, the chips and the send button. */
export function StartComposer({ draft, choices, options, isMaking, onSend }: StartComposerProps) {
  const dropping = useSignal(false);
  const canSend = isSendable(draft.value) && !isMaking;
  return (
    <section
      class={dropping.value ? "composer dropping" : "composer"}
      aria-label="Message"
      onDragOver={(event) => {
        event.preventDefault();
        dropping.value = true;
      }}
      onDragLeave={() => (dropping.value = false)}
      onDrop={(event) => {
        event.preventDefault();
        dropping.value = false;
        void attachFiles(draft, event.dataTransfer?.files ?? []);
      }}
    >
      <AttachedList draft={draft} />
      <Field
        draft={draft}
        placeholder={`Say something to ${choices.agent.displayName}`}
        onEnter={() => canSend && onSend()}
      />
      <div class="composer-bar">
        <div class="chips">
          {!options.isOpen && <ChoiceChips choices={choices} />}
          <OptionsChip {...options} />
        </div>
        <FileButton onFiles={(files) => void attachFiles(draft, files)} />
        <button type="button" class="primary" disabled={!canSend} onClick={onSend} title="Enter">
          <Icon name="send" /> Send
        </button>
      </div>
    </section>
  );
}

interface FieldProps {
  draft: Signal<Draft>;
  placeholder: string;
  onEnter: () => void;
}

function Field({ draft, placeholder, onEnter }: FieldProps) {
  const field = useRef<HTMLTextAreaElement>(null);
  useEffect(() => grow(field.current), [draft.value.text]);
  return (
    <textarea
      ref={field}
      rows={2}
      dir="auto"
      aria-label="First message"
      placeholder={placeholder}
      value={draft.value.text}
      onInput={(event) => (draft.value = { ...draft.value, text: event.currentTarget.value })}
      onKeyDown={(event) => {
        if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
        event.preventDefault();
        onEnter();
      }}
      onPaste={(event) => {
        const files = [...(event.clipboardData?.files ?? [])];
        if (files.length === 0) return;
        event.preventDefault();
        void attachFiles(draft, files);
      }}
    />
  );
}

function ChoiceChips({ choices }: { choices: Choices }) {
  return (
    <>
      <SelectChip
        label="Agent"
        icon="user"
        value={choices.agent.provider}
        items={choices.agents.map((one) => [one.provider, one.displayName])}
        onChoose={choices.chooseAgent}
      />
      {choices.model && (
        <SelectChip
          label="Model"
          icon="think"
          value={choices.model.id}
          items={choices.models.map((one) => [one.id, one.name])}
          onChoose={(id) => choices.chooseModel(id)}
        />
      )}
      <FolderChip choices={choices} />
    </>
  );
}

interface SelectChipProps {
  label: string;
  icon: IconName;
  value: string;
  items: readonly (readonly [id: string, name: string])[];
  onChoose: (id: string) => void;
}

function SelectChip({ label, icon, value, items, onChoose }: SelectChipProps) {
  return (
    <span class="chip">
      <Icon name={icon} />
      <select
        aria-label={label}
        title={label}
        value={value}
        onChange={(event) => onChoose(event.currentTarget.value)}
      >
        {items.map(([id, name]) => (
          <option key={id} value={id}>
            {name}
          </option>
        ))}
      </select>
    </span>
  );
}

function FolderChip({ choices }: { choices: Choices }) {
  const isOpen = useSignal(false);
  const folder = choices.folder ?? client.welcome.value?.defaultDirectory;
  const name = folder ? baseName(folder) : "Workspace";
  return (
    <>
      <button
        type="button"
        class="chip"
        title={folder ?? "Folder"}
        aria-label={`Folder: ${name}`}
        onClick={() => (isOpen.value = true)}
      >
        <Icon name="folder" />
        <span>{name}</span>
      </button>
      {isOpen.value && (
        <FolderPicker
          start={folder}
          onClose={() => (isOpen.value = false)}
          onChoose={(uri) => {
            choices.chooseFolder(uri);
            isOpen.value = false;
          }}
        />
      )}
    </>
  );
}

interface OptionsChipProps {
  readonly isOpen: boolean;
  /** The id of the form that it opens. */
  readonly form: string;
  toggle(): void;
}

function OptionsChip({ isOpen, form, toggle }: OptionsChipProps) {
  return (
    <button
      type="button"
      class="chip"
      aria-expanded={isOpen}
      aria-controls={isOpen ? form : undefined}
      onClick={toggle}
    >
      <Icon name="settings" />
      <span>Options</span>
    </button>
  );
}
