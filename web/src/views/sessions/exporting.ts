/** A session as a file: as Markdown the same document that `agenthost sessions export` writes, or its states as JSON. */
import { effect } from "@preact/signals";
import { client } from "../../ahp";
import type { Watch } from "../../ahp/api";
import type { State, URI } from "../../ahp/wire";
import { chatOf, listChats } from "../conversation/chats";
import { markdownOf, type Written } from "./document";
import { fileNameOf, summaryOf } from "./summaries";

export type Format = "markdown" | "json";

const KINDS = {
  markdown: { suffix: ".md", type: "text/markdown;charset=utf-8" },
  json: { suffix: ".json", type: "application/json" },
} as const;

/** Download a session. Rejects if it cannot be read. */
export async function exportSession(uri: URI, format: Format): Promise<void> {
  const written = await readSession(uri);
  const text = format === "json" ? `${JSON.stringify(written, undefined, 2)}\n` : markdownOf(written);
  const { suffix, type } = KINDS[format];
  download(new Blob([text], { type }), fileNameOf(written.summary) + suffix);
}

/** Read a session and its chats once. Those of subagents belong to the calls that made them, and are left out. */
async function readSession(uri: URI): Promise<Written> {
  const session = await stateOf(client.session(uri));
  const first = chatOf(session, undefined);
  const summary = summaryOf(client.sessions.value, uri);
  if (first === undefined || !summary) throw new Error("The session is not there yet.");
  const others = listChats(session, first).map((chat) => chat.resource);
  const uris = others.length > 0 ? others : [first];
  const chats = await Promise.all(uris.map((chat) => stateOf(client.chat(chat))));
  return { summary: { ...summary, title: session.title }, session, chats };
}

/** Read what is watched once. */
function stateOf<S extends State>(watch: Watch<S>): Promise<S> {
  let stop = () => {};
  const read = new Promise<S>((resolve, reject) => {
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
