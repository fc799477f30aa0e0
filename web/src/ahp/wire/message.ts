/** Messages: what is said to an agent, and what comes along. */

import type { ContentRef, Meta, ModelSelection, TextRange, TextSelection, URI } from "./common";

/** Who says it. Clients speak for users only; a newer host may send kinds that are not listed here. */
export interface MessageOrigin {
  kind: "user" | "agent" | "tool" | "automation" | "systemNotification";
}

export interface Message {
  text: string;
  origin: MessageOrigin;
  attachments?: readonly MessageAttachment[];
  /** What is to answer it; absent: what answered before. */
  model?: ModelSelection;
  agent?: { uri: URI };
  _meta?: Meta;
}

/** A message that waits: for its turn in the queue, or to steer the running turn. */
export interface PendingMessage {
  id: string;
  message: Message;
}

interface AttachmentBase {
  label: string;
  /** The span in the text of the message. */
  range?: TextRange;
  /** An open set: image, document, symbol, directory, selection, … */
  displayKind?: string;
  /** From `completions`: send it back untouched. */
  _meta?: Meta;
}

export interface SimpleMessageAttachment extends AttachmentBase {
  type: "simple";
  modelRepresentation?: string;
}

export interface MessageEmbeddedResourceAttachment extends AttachmentBase {
  type: "embeddedResource";
  /** In base64. */
  data: string;
  contentType: string;
  selection?: TextSelection;
}

export interface MessageResourceAttachment extends AttachmentBase, ContentRef {
  type: "resource";
  selection?: TextSelection;
}

export interface MessageAnnotationsAttachment extends AttachmentBase {
  type: "annotations";
  resource: URI;
  annotationIds?: readonly string[];
}

/** Another chat, up to a turn. */
export interface MessageChatAttachment extends AttachmentBase {
  type: "chat";
  resource: URI;
  endTurn?: string;
}

export type MessageAttachment =
  | SimpleMessageAttachment
  | MessageEmbeddedResourceAttachment
  | MessageResourceAttachment
  | MessageAnnotationsAttachment
  | MessageChatAttachment;
