/** Completions: when to request them, and how one changes the text. */
import { type ReadonlySignal, useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { client } from "../../ahp";
import type { CompletionItem } from "../../ahp/wire";
import type { Attached, Draft } from "./drafts";

const ASK_MS = 60;

/** Whether the text before the cursor can be completed: a word that begins with a trigger. */
export function asksForCompletion(before: string, triggers: readonly string[]): boolean {
  const word = /(?:^|[\s(\[{'"`,;])(\S+)$/.exec(before)?.[1] ?? "";
  return word !== "" && triggers.includes(word[0]!);
}

/** Insert an item into a draft. Returns the new cursor position too. */
export function takeCompletion(
  draft: Draft,
  item: CompletionItem,
  cursor: number,
): { draft: Draft; cursor: number } {
  const start = item.rangeStart ?? cursor;
  const end = item.rangeEnd ?? cursor;
  const isOpen = item.insertText.endsWith("/"); // a folder: the user may want something inside it
  const after = draft.text.slice(end);
  const inserted = isOpen || /^\s/.test(after) ? item.insertText : `${item.insertText} `;
  const text = draft.text.slice(0, start) + inserted + after;
  return { draft: { text, attached: withItem(draft.attached, item) }, cursor: start + inserted.length };
}

/** Whether the text has the item already: then Enter sends. */
export function isTyped(text: string, item: CompletionItem | undefined): boolean {
  return (
    item !== undefined &&
    text.slice(item.rangeStart, item.rangeEnd) === item.insertText &&
    item.rangeEnd === text.length
  );
}

/** A command is only text; everything else is attached, once. */
function withItem(attached: readonly Attached[], item: CompletionItem): readonly Attached[] {
  if (item.attachment.displayKind === "command" || attached.some((one) => one.text === item.insertText))
    return attached;
  return [...attached, { attachment: item.attachment, text: item.insertText }];
}

export interface Completing {
  readonly items: ReadonlySignal<readonly CompletionItem[]>;
  readonly chosen: ReadonlySignal<number>;
  /** Request completions. */
  ask(text: string, cursor: number): void;
  move(by: number): void;
  close(): void;
}

/** Request completions while the user types; only the newest answer counts. */
export function useCompletions(chat: string): Completing {
  const items = useSignal<readonly CompletionItem[]>([]);
  const chosen = useSignal(0);
  const timer = useRef<number | undefined>(undefined);
  const newest = useRef(0);
  const close = () => {
    clearTimeout(timer.current);
    newest.current++;
    items.value = [];
  };
  useEffect(() => close, [chat]);
  const ask = (text: string, cursor: number) => {
    clearTimeout(timer.current);
    const triggers = client.welcome.value?.completionTriggerCharacters ?? [];
    if (!asksForCompletion(text.slice(0, cursor), triggers)) return close();
    const mine = ++newest.current;
    timer.current = window.setTimeout(async () => {
      const params = { channel: chat, kind: "userMessage", text, offset: cursor } as const;
      const found = await client.request("completions", params).catch(() => ({ items: [] }));
      if (mine !== newest.current) return;
      items.value = found.items;
      chosen.value = 0;
    }, ASK_MS);
  };
  const move = (by: number) => {
    const count = items.value.length;
    if (count > 0) chosen.value = (chosen.value + by + count) % count;
  };
  return { items, chosen, ask, move, close };
}
