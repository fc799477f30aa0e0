/** Messages that wait: one that steers the running turn, and the queue behind it. */
import type { ChatState, PendingMessage } from "../../ahp/wire";
import { Icon } from "../parts/icon";
import { useAccess } from "./access";
import { draftFrom, draftOf } from "./drafts";

/** Show the pending messages, in the order in which they will be sent. */
export function Pending({ chat }: { chat: ChatState }) {
  const queued = chat.queuedMessages ?? [];
  const steering = chat.steeringMessage;
  if (!steering && queued.length === 0) return null;
  return (
    <section class="pending" aria-label="Waiting messages">
      <ol>
        {steering && <Row message={steering} kind="steering" />}
        {queued.map((message, at) => (
          <Row key={message.id} message={message} kind="queued" at={at} order={queued.map((one) => one.id)} />
        ))}
      </ol>
    </section>
  );
}

interface RowProps {
  message: PendingMessage;
  kind: "steering" | "queued";
  at?: number;
  order?: readonly string[];
}

function Row({ message, kind, at = 0, order = [] }: RowProps) {
  const { key, act } = useAccess();
  const remove = () => act({ type: "chat/pendingMessageRemoved", kind, id: message.id });
  const move = (by: number) => {
    const others = order.filter((id) => id !== message.id);
    others.splice(at + by, 0, message.id);
    act({ type: "chat/queuedMessagesReordered", order: others });
  };
  const edit = () => {
    remove();
    draftOf(key).value = draftFrom(message.message);
  };
  const text = message.message.text;
  return (
    <li>
      <span class={kind === "steering" ? "badge waits" : "badge"}>
        {kind === "steering" ? "steers" : `${at + 1}`}
      </span>
      <span class="grow text" dir="auto">
        {text}
      </span>
      {order.length > 1 && (
        <>
          <Button icon="up" label={`Move up: ${text}`} disabled={at === 0} run={() => move(-1)} />
          <Button
            icon="down"
            label={`Move down: ${text}`}
            disabled={at === order.length - 1}
            run={() => move(1)}
          />
        </>
      )}
      <Button icon="edit" label={`Edit: ${text}`} run={edit} />
      <Button icon="close" label={`Remove: ${text}`} run={remove} />
    </li>
  );
}

function Button({
  icon,
  label,
  disabled = false,
  run,
}: {
  icon: "up" | "down" | "edit" | "close";
  label: string;
  disabled?: boolean;
  run: () => void;
}) {
  return (
    <button
      type="button"
      class="quiet small"
      aria-label={label}
      title={label.split(":")[0]}
      disabled={disabled}
      onClick={run}
    >
      <Icon name={icon} />
    </button>
  );
}
