/** The list of completions above the field; the field keeps the focus. */
import { useEffect, useRef } from "preact/hooks";
import type { CompletionItem } from "../../ahp/wire";
import { Icon, type IconName } from "../parts/icon";

interface CompletionListProps {
  id: string;
  items: readonly CompletionItem[];
  chosen: number;
  onTake: (item: CompletionItem) => void;
}

/** Show the completions. */
export function CompletionList({ id, items, chosen, onTake }: CompletionListProps) {
  const list = useRef<HTMLUListElement>(null);
  useEffect(() => list.current?.children[chosen]?.scrollIntoView({ block: "nearest" }), [chosen, items]);
  return (
    <ul ref={list} id={id} class="completions scroll" role="listbox" aria-label="Completions">
      {items.map((item, at) => (
        <li
          key={item.insertText}
          id={`${id}-${at}`}
          role="option"
          aria-selected={at === chosen}
          onMouseDown={(event) => {
            event.preventDefault(); // the field keeps the focus
            onTake(item);
          }}
        >
          <Icon name={iconOf(item)} />
          <span class="mono">{item.attachment.label}</span>
          <span class="faint grow">{descriptionOf(item)}</span>
        </li>
      ))}
    </ul>
  );
}

function iconOf({ attachment }: CompletionItem): IconName {
  if (attachment.displayKind === "command") return "tool";
  if (attachment.displayKind === "directory") return "folder";
  return attachment.displayKind === "image" ? "image" : "file";
}

function descriptionOf({ attachment }: CompletionItem): string {
  const description = attachment._meta?.["description"];
  return typeof description === "string" ? description : "";
}
