/** Changed files: each with what changed in it, read when it is opened. */
import { useSignal } from "@preact/signals";
import { useId } from "preact/hooks";
import type { FileEdit } from "../../ahp/wire";
import { useRead } from "../files/useread";
import { Icon } from "../parts/icon";
import { DiffView } from "./diffview";
import { kindOf, pathOf, uriOf } from "./edits";

interface FileEditsProps {
  edits: readonly FileEdit[];
  folder?: string | undefined;
  /** Whether they are open initially: a few are, many are not. */
  open?: boolean;
}

const FEW = 3;

/** Show changed files. */
export function FileEdits({ edits, folder, open = edits.length <= FEW }: FileEditsProps) {
  return (
    <ul class="edits">
      {edits.map((edit) => (
        <EditView key={uriOf(edit)} edit={edit} folder={folder} open={open} />
      ))}
    </ul>
  );
}

function EditView({ edit, folder, open }: { edit: FileEdit; folder: string | undefined; open: boolean }) {
  const isOpen = useSignal(open);
  const body = useId();
  const kind = kindOf(edit);
  return (
    <li class="edit card">
      <button
        type="button"
        class="edit-head"
        aria-expanded={isOpen.value}
        aria-controls={body}
        onClick={() => (isOpen.value = !isOpen.value)}
      >
        <Icon name="chevron" class={isOpen.value ? "turned" : ""} />
        <span class="mono path">
          {kind === "renamed" && edit.before ? `${pathOf(edit.before.uri, folder)} → ` : ""}
          {pathOf(uriOf(edit), folder)}
        </span>
        <span class="tag">{kind}</span>
        <Counts edit={edit} />
      </button>
      <div id={body} hidden={!isOpen.value}>
        {isOpen.value && <EditBody edit={edit} />}
      </div>
    </li>
  );
}

/** How many lines were added and removed. */
export function Counts({ edit }: { edit: FileEdit }) {
  const { added, removed } = edit.diff ?? {};
  if (added === undefined && removed === undefined) return null;
  return (
    <span class="counts mono">
      <span class="plus" aria-label={`${added ?? 0} lines added`}>
        +{added ?? 0}
      </span>{" "}
      <span class="minus" aria-label={`${removed ?? 0} lines removed`}>
        −{removed ?? 0}
      </span>
    </span>
  );
}

function EditBody({ edit }: { edit: FileEdit }) {
  const before = useRead(edit.before?.content.uri).value;
  const after = useRead(edit.after?.content.uri).value;
  const sides = [edit.before && before, edit.after && after];
  const failed = sides.find((side) => side?.kind === "failed");
  if (failed?.kind === "failed") return <p class="failure">{failed.reason}</p>;
  if (sides.some((side) => side?.kind === "loading")) return <p class="faint pad">Reading</p>;
  if (sides.some((side) => side && side.kind !== "text"))
    return <p class="faint pad">This file is no text.</p>;
  const text = (side: typeof before | undefined) => (side?.kind === "text" ? side.text : "");
  return <DiffView before={text(sides[0])} after={text(sides[1])} />;
}
