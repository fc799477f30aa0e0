/** The files of a session's folder: a tree that is read as it is opened, and what is in the file that is chosen. */
import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { client } from "../../ahp";
import type { URI } from "../../ahp/wire";
import { Copy } from "../parts/copy";
import { Icon } from "../parts/icon";
import { pathOf } from "../diffs/edits";
import { ReadingView } from "./contentview";
import { Tree } from "./tree";
import { useRead } from "./useread";

/** Show the files. */
export function FilesPanel({ folder }: { folder: URI | undefined }) {
  const root = folder ?? client.welcome.value?.defaultDirectory;
  const chosen = useSignal<URI | undefined>(undefined);
  useEffect(() => void (chosen.value = undefined), [root]);
  if (!root) return <div class="empty">The host does not say where its files are.</div>;
  return (
    <div class={chosen.value ? "files viewing" : "files"}>
      <Tree key={root} root={root} chosen={chosen.value} onChoose={(uri) => (chosen.value = uri)} />
      {chosen.value && (
        <Viewer
          key={chosen.value}
          uri={chosen.value}
          root={root}
          onClose={() => (chosen.value = undefined)}
        />
      )}
    </div>
  );
}

function Viewer({ uri, root, onClose }: { uri: URI; root: URI; onClose: () => void }) {
  const reading = useRead(uri);
  return (
    <section class="viewer" aria-label="File">
      <div class="card-head">
        <button
          type="button"
          class="quiet small"
          aria-label="Back to the tree"
          title="Back"
          onClick={onClose}
        >
          <Icon name="back" />
        </button>
        <span class="grow mono path">{pathOf(uri, root)}</span>
        {reading.value.kind === "text" && <Copy text={reading.value.text} label="Copy file" />}
      </div>
      <div class="scroll grow">
        <ReadingView reading={reading.value} uri={uri} bare />
      </div>
    </section>
  );
}
