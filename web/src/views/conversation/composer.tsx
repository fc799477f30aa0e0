/** The composer. While a turn runs, messages wait in the queue or steer it. */
import { useSignal } from "@preact/signals";
import type { ChatState, Message, SessionState } from "../../ahp/wire";
import { Icon } from "../parts/icon";
import { newId } from "../parts/ids";
import { useAccess } from "./access";
import { AttachedList, FileButton } from "./attaching";
import { ComposerField } from "./composerfield";
import { attachFiles, draftOf, EMPTY, isSendable, messageOf } from "./drafts";
import { ModelPicker, nextModel } from "./modelpicker";
import { elapsed } from "./times";

interface ComposerProps {
  session: SessionState;
  chat: ChatState;
  onSend: (message: Message) => void;
  /** Set while a sent message is being edited. */
  editing: { readonly onCancel: () => void } | undefined;
}

/** Show the field and its buttons. */
export function Composer({ session, chat, onSend, editing }: ComposerProps) {
  const { session: uri, key, act } = useAccess();
  const draft = draftOf(key);
  const dropping = useSignal(false);
  const turn = editing ? undefined : chat.activeTurn; // an edited message is sent at once, even during a turn
  const isReady = session.lifecycle === "ready";
  const submit = (isSteering: boolean) => {
    if (!isSendable(draft.value) || !isReady) return;
    const message = messageOf(draft.value, nextModel(session, chat, key));
    draft.value = EMPTY;
    const kind = isSteering ? "steering" : "queued";
    if (turn) act({ type: "chat/pendingMessageSet", kind, id: newId(), message });
    else onSend(message);
  };
  return (
    <section
      class={dropping.value ? "composer dropping" : "composer"}
      aria-label="Message"
      data-session={uri}
      data-chat={chat.resource}
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
      {editing && <Editing onCancel={editing.onCancel} />}
      <AttachedList draft={draft} />
      <ComposerField
        draft={draft}
        isEnabled={isReady}
        isEditing={editing !== undefined}
        placeholder={turn ? "Say what comes next, or steer" : "Say something. / for commands, @ for files"}
        onSubmit={submit}
        onEscape={editing?.onCancel}
      />
      <div class="composer-bar">
        <FileButton onFiles={(files) => void attachFiles(draft, files)} />
        <ModelPicker session={session} chat={chat} />
        <span class="grow" />
        <div class="composer-actions">
          {turn && (
            <TurnButtons
              canSteer={isSendable(draft.value)}
              onStop={() =>
                act({ type: "chat/turnCancelled", turnId: turn.id, duration: elapsed(turn.startedAt) })
              }
              onSteer={() => submit(true)}
            />
          )}
          <button
            type="button"
            class="primary"
            disabled={!isReady || !isSendable(draft.value)}
            onClick={() => submit(false)}
            title="Enter"
          >
            <Icon name={turn ? "add" : "send"} />
            {turn ? "Queue" : "Send"}
          </button>
        </div>
      </div>
    </section>
  );
}

function Editing({ onCancel }: { onCancel: () => void }) {
  return (
    <div class="editing">
      <Icon name="edit" />
      <span class="grow">You change a message. What was said after it goes when you send it.</span>
      <button type="button" class="quiet small" onClick={onCancel}>
        Cancel
      </button>
    </div>
  );
}

function TurnButtons({
  canSteer,
  onStop,
  onSteer,
}: {
  canSteer: boolean;
  onStop: () => void;
  onSteer: () => void;
}) {
  return (
    <>
      <button type="button" class="stop" onClick={onStop} title="Stop (Esc)">
        <Icon name="stop" /> Stop
      </button>
      <button type="button" disabled={!canSteer} onClick={onSteer} title="Say it into this turn (Ctrl+Enter)">
        Steer
      </button>
    </>
  );
}
