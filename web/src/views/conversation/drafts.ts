/** Drafts, one for each chat: they survive navigation, and their texts a reload. */
import { type Signal, signal } from "@preact/signals";
import type { Message, MessageAttachment, ModelSelection } from "../../ahp/wire";
import { toastError } from "../parts/toasts";

export interface Attached {
  readonly attachment: MessageAttachment;
  /** Its mention in the text; if that is deleted, it is not sent. */
  readonly text?: string;
}

export interface Draft {
  readonly text: string;
  readonly attached: readonly Attached[];
}

export const EMPTY: Draft = { text: "", attached: [] };
const drafts = new Map<string, Signal<Draft>>();

/** The draft of a chat, by its key. */
export function draftOf(key: string): Signal<Draft> {
  let draft = drafts.get(key);
  if (!draft) {
    draft = signal<Draft>({ ...EMPTY, text: kept(key) });
    draft.subscribe(({ text }) => keep(key, text));
    drafts.set(key, draft);
  }
  return draft;
}

function kept(key: string): string {
  try {
    return sessionStorage.getItem(`draft ${key}`) ?? "";
  } catch {
    return "";
  }
}

function keep(key: string, text: string): void {
  try {
    if (text) sessionStorage.setItem(`draft ${key}`, text);
    else sessionStorage.removeItem(`draft ${key}`);
  } catch {
    // Then a reload forgets it.
  }
}

/** Whether there is something to send. */
export function isSendable(draft: Draft): boolean {
  return draft.text.trim() !== "" || draft.attached.length > 0;
}

/** Return the draft as a message to a model. */
export function messageOf(draft: Draft, model?: ModelSelection): Message {
  const attachments = draft.attached
    .filter((one) => one.text === undefined || draft.text.includes(one.text))
    .map((one) => one.attachment);
  return {
    ...userMessage(draft.text.trim(), model),
    ...(attachments.length > 0 && { attachments }),
  };
}

/** Return a message of the user. */
export function userMessage(text: string, model?: ModelSelection): Message {
  return { text, origin: { kind: "user" }, ...(model && { model }) };
}

/** Return a message as a draft, to be changed. */
export function draftFrom(message: Message): Draft {
  return { text: message.text, attached: (message.attachments ?? []).map((attachment) => ({ attachment })) };
}

/** Put a message that was not sent back into the composer, unless there is another one. */
export function keepDraft(key: string, message: Message): void {
  const draft = draftOf(key);
  if (!isSendable(draft.peek())) draft.value = draftFrom(message);
}

/** In base64 this fits into a message of the size that hosts take by default. */
const LARGEST = 6_000_000;

/** Read a file into an attachment. Too large ones are refused with a sentence. */
async function attachFile(file: File): Promise<Attached> {
  if (file.size > LARGEST) throw new Error(`${file.name} is larger than ${LARGEST / 1e6} MB`);
  const contentType = file.type || "application/octet-stream";
  const data = await base64Of(file);
  const displayKind = contentType.startsWith("image/") ? "image" : "document";
  return {
    attachment: { type: "embeddedResource", label: file.name || "pasted", contentType, data, displayKind },
  };
}

/** Add files to a draft; files that cannot be added are reported. */
export async function attachFiles(draft: Signal<Draft>, files: Iterable<File>): Promise<void> {
  for (const file of files) {
    try {
      const one = await attachFile(file);
      draft.value = { ...draft.value, attached: [...draft.value.attached, one] };
    } catch (error) {
      toastError(error);
    }
  }
}

function base64Of(file: File): Promise<string> {
  return new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.onload = () => resolve((reader.result as string).replace(/^[^,]*,/, ""));
    reader.onerror = () => reject(new Error(`${file.name} cannot be read`));
    reader.readAsDataURL(file);
  });
}
