/** A folder of the host's, chosen by walking through folders. */
import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { client } from "../../ahp";
import type { URI } from "../../ahp/wire";
import { childOf, parentOf } from "../files/paths";
import { Dialog } from "../parts/dialog";
import { Icon } from "../parts/icon";
import { rove } from "../parts/roving";

interface FolderPickerProps {
  start: URI | undefined;
  onChoose: (uri: URI) => void;
  onClose: () => void;
}

/** Show the dialog. */
export function FolderPicker({ start, onChoose, onClose }: FolderPickerProps) {
  const at = useSignal(start ?? "file:///");
  const names = useSignal<readonly string[] | undefined>(undefined);
  const problem = useSignal("");
  useEffect(() => {
    let isWanted = true;
    names.value = undefined;
    problem.value = "";
    client.request("resourceList", { uri: at.value }).then(
      ({ entries }) =>
        isWanted && (names.value = entries.filter((one) => one.type === "directory").map((one) => one.name)),
      (error: unknown) => isWanted && (problem.value = (error as Error).message),
    );
    return () => {
      isWanted = false;
    };
  }, [at.value]);
  const parent = parentOf(at.value);
  return (
    <Dialog title="Choose a folder" onClose={onClose}>
      <p class="mono where">{at.value}</p>
      <ul class="folders scroll card" aria-label="Folders" onKeyDown={(event) => rove(event, "button")}>
        {parent && (
          <li>
            <button type="button" class="quiet" onClick={() => (at.value = parent)}>
              <Icon name="up" /> One up
            </button>
          </li>
        )}
        {names.value?.map((name) => (
          <li key={name}>
            <button type="button" class="quiet" onClick={() => (at.value = childOf(at.value, name))}>
              <Icon name="folder" /> {name}
            </button>
          </li>
        ))}
        {names.value?.length === 0 && <li class="faint pad">No folders in here.</li>}
        {problem.value && <li class="failure">{problem.value}</li>}
      </ul>
      <footer>
        <button type="button" onClick={onClose}>
          Cancel
        </button>
        <button
          type="button"
          class="primary"
          onClick={() => onChoose(at.value)}
          disabled={problem.value !== ""}
        >
          Choose this folder
        </button>
      </footer>
    </Dialog>
  );
}
