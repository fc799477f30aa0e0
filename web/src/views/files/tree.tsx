/** A tree of files: arrows move, right opens, left closes, Enter chooses. */
import { useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { client } from "../../ahp";
import type { DirectoryEntry, URI } from "../../ahp/wire";
import { Icon } from "../parts/icon";
import { childOf } from "./paths";

interface TreeProps {
  root: URI;
  chosen: URI | undefined;
  onChoose: (uri: URI) => void;
}

interface Node {
  readonly uri: URI;
  readonly name: string;
  readonly type: DirectoryEntry["type"] | "problem";
  readonly depth: number;
  readonly isOpen: boolean;
}

type Folder = readonly DirectoryEntry[] | "loading" | { readonly problem: string };

/** Show the tree of a folder. */
export function Tree({ root, chosen, onChoose }: TreeProps) {
  const folders = useSignal<ReadonlyMap<URI, Folder>>(new Map());
  const open = useSignal<ReadonlySet<URI>>(new Set([root]));
  const focused = useSignal<URI | undefined>(undefined);
  const list = useRef<HTMLUListElement>(null);
  const read = async (uri: URI) => {
    folders.value = new Map(folders.value).set(uri, folders.value.get(uri) ?? "loading");
    const found = await client.request("resourceList", { uri }).then(
      ({ entries }): Folder => [...entries].sort(foldersFirst),
      (error: unknown): Folder => ({ problem: (error as Error).message }),
    );
    folders.value = new Map(folders.value).set(uri, found);
  };
  useEffect(() => void read(root), [root]);
  const toggle = (node: Node, to = !node.isOpen) => {
    const next = new Set(open.value);
    if (to) next.add(node.uri);
    else next.delete(node.uri);
    open.value = next;
    if (to) void read(node.uri);
  };
  const nodes = nodesOf(root, folders.value, open.value, 0);
  const stop = nodes.find((node) => node.uri === focused.value) ?? nodes[0];
  const focus = (at: number) => {
    const node = nodes[at];
    if (!node) return;
    focused.value = node.uri;
    list.current?.querySelectorAll<HTMLElement>("[role=treeitem]")[at]?.focus();
  };
  const press = (node: Node) =>
    node.type === "directory" ? toggle(node) : node.type === "file" && onChoose(node.uri);
  const onKeyDown = (event: KeyboardEvent) => {
    const at = stop ? nodes.indexOf(stop) : -1;
    if (!stop) return;
    const parent = nodes.slice(0, at).findLastIndex((node) => node.depth < stop.depth);
    if (event.key === "ArrowDown") focus(at + 1);
    else if (event.key === "ArrowUp") focus(at - 1);
    else if (event.key === "Home") focus(0);
    else if (event.key === "End") focus(nodes.length - 1);
    else if (event.key === "Enter" || event.key === " ") press(stop);
    else if (event.key === "ArrowRight" && stop.type === "directory")
      stop.isOpen ? focus(at + 1) : toggle(stop, true);
    else if (event.key === "ArrowLeft") stop.isOpen ? toggle(stop, false) : focus(parent);
    else return;
    event.preventDefault();
  };
  return (
    <ul ref={list} class="tree scroll" role="tree" aria-label="Files" onKeyDown={onKeyDown}>
      {nodes.map((node) => (
        <li
          key={node.uri}
          role="treeitem"
          aria-level={node.depth + 1}
          aria-expanded={node.type === "directory" ? node.isOpen : undefined}
          aria-selected={node.uri === chosen}
          tabIndex={node === stop ? 0 : -1}
          style={{ paddingInlineStart: `${0.5 + node.depth}rem` }}
          onClick={() => {
            focused.value = node.uri;
            press(node);
          }}
        >
          {node.type === "directory" ? (
            <Icon name="chevron" class={node.isOpen ? "turned" : ""} />
          ) : (
            <span class="icon" />
          )}
          {node.type !== "problem" && <Icon name={node.type === "directory" ? "folder" : "file"} />}
          <span class={node.type === "problem" ? "faint" : ""}>{node.name}</span>
        </li>
      ))}
    </ul>
  );
}

function foldersFirst(a: DirectoryEntry, b: DirectoryEntry): number {
  return a.type === b.type ? a.name.localeCompare(b.name) : a.type === "directory" ? -1 : 1;
}

function nodesOf(
  folder: URI,
  folders: ReadonlyMap<URI, Folder>,
  open: ReadonlySet<URI>,
  depth: number,
): Node[] {
  const entries = folders.get(folder);
  const aside = (name: string): Node[] => [
    { uri: `${folder}#`, name, type: "problem", depth, isOpen: false },
  ];
  if (entries === undefined || entries === "loading") return aside("Reading");
  if ("problem" in entries) return aside(entries.problem);
  if (entries.length === 0) return aside("Nothing in here");
  return entries.flatMap((entry) => {
    const uri = childOf(folder, entry.name);
    const isOpen = entry.type === "directory" && open.has(uri);
    const node: Node = { uri, name: entry.name, type: entry.type, depth, isOpen };
    return isOpen ? [node, ...nodesOf(uri, folders, open, depth + 1)] : [node];
  });
}
