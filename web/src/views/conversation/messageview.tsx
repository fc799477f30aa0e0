/** A message of the user, with its attachments. */
import type { ComponentChildren } from "preact";
import type { Message, MessageAttachment } from "../../ahp/wire";
import { Icon } from "../parts/icon";
import { labelOf } from "./labels";

interface MessageViewProps {
  message: Message;
  children?: ComponentChildren;
}

/** Show a message, with its buttons. */
export function MessageView({ message, children }: MessageViewProps) {
  return (
    <div class="message">
      <div class="bubble">
        <h3 class="unseen">Message</h3>
        <Speaker kind={message.origin?.kind} />
        <p class="said" dir="auto">
          {message.text}
        </p>
        {message.attachments && message.attachments.length > 0 && (
          <ul class="attachments" aria-label="Attachments">
            {message.attachments.map((one, at) => (
              <AttachmentView key={at} attachment={one} />
            ))}
          </ul>
        )}
      </div>
      {children}
    </div>
  );
}

const SPEAKERS: Readonly<Record<string, string>> = {
  agent: "From an agent",
  tool: "From a tool",
  automation: "From an automation",
  systemNotification: "From the host",
};

/** Show the author, if it is not the user. */
function Speaker({ kind }: { kind: string | undefined }) {
  if (kind === undefined || kind === "user") return null;
  return <small class="faint">{SPEAKERS[kind] ?? `From: ${kind}`}</small>;
}

/** Show one attachment: images as such, everything else by name. */
export function AttachmentView({
  attachment,
  onRemove,
}: {
  attachment: MessageAttachment;
  onRemove?: () => void;
}) {
  const isImage = attachment.type === "embeddedResource" && attachment.contentType.startsWith("image/");
  const label = labelOf(attachment);
  return (
    <li class="attachment" title={label}>
      {isImage ? (
        <img src={`data:${attachment.contentType};base64,${attachment.data}`} alt={label} />
      ) : (
        <Icon name={iconOf(attachment)} />
      )}
      <span dir="auto">{label}</span>
      {onRemove && (
        <button type="button" class="quiet small" aria-label={`Remove ${label}`} onClick={onRemove}>
          <Icon name="close" />
        </button>
      )}
    </li>
  );
}

function iconOf(attachment: MessageAttachment): "folder" | "image" | "file" {
  if (attachment.displayKind === "directory") return "folder";
  return attachment.displayKind === "image" ? "image" : "file";
}
