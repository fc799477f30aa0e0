/** A session as a file: as Markdown the same document that `agenthost sessions export` writes, or its state as JSON. */
import { effect } from "@preact/signals";
import { client } from "../../ahp";
import type { SessionState, SessionSummary, URI } from "../../ahp/wire";
import { markdownOf } from "./document";
import { fileNameOf } from "./summaries";

export type Format = "markdown" | "json";

const KINDS = {
  markdown: { suffix: ".md", type: "text/markdown;charset=utf-8" },
  json: { suffix: ".json", type: "application/json" },
} as const;

/** Download a session. Rejects if it cannot be read. */
export async function exportSession(summary: SessionSummary, format: Format): Promise<void> {
  const state = await stateOf(summary.resource);
  const text = format === "json" ? `${JSON.stringify(state, undefined, 2)}\n` : markdownOf(state);
  const { suffix, type } = KINDS[format];
  download(new Blob([text], { type }), fileNameOf(state.summary) + suffix);
}

/** Read the whole session once. */
function stateOf(uri: URI): Promise<SessionState> {
  const watch = client.session(uri);
  let stop = () => {};
  const read = new Promise<SessionState>((resolve, reject) => {
    stop = effect(() => {
      const presence = watch.presence.value;
      if (watch.state.value) resolve(watch.state.value);
      else if (presence.status === "gone") reject(new Error(presence.reason));
    });
  });
  return read.finally(() => (stop(), watch.close()));
}

function download(blob: Blob, name: string): void {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000); // the browser may not have read it yet
}
