/** How much was changed in the chat that is shown: a line that opens the changes. */
import { client, useChangeset } from "../../ahp";
import type { ChangesSummary, ChatState, SessionState, URI } from "../../ahp/wire";
import { changesetOf, countEdits } from "../diffs/edits";
import { Icon } from "../parts/icon";
import { panel, togglePanel } from "../route";
import { summaryOf } from "../sessions/summaries";
import { isDefaultChat } from "./chats";

interface ChangesLineProps {
  uri: URI;
  session: SessionState;
  chat: ChatState;
}

/** Show the line; nothing, if no file was changed. */
export function ChangesLine(props: ChangesLineProps) {
  const { files = 0, additions = 0, deletions = 0 } = useChanges(props);
  if (files === 0) return null;
  return (
    <div class="changes-line">
      <button
        type="button"
        class="quiet small"
        aria-expanded={panel.value === "changes"}
        onClick={() => togglePanel("changes")}
      >
        <Icon name="diff" /> {files} file{files === 1 ? "" : "s"} <span class="plus">+{additions}</span>{" "}
        <span class="minus">−{deletions}</span>
      </button>
    </div>
  );
}

/** Return how much was changed in a chat. If it is the only one, the list of sessions says it. */
export function useChanges({ uri, session, chat }: ChangesLineProps): ChangesSummary {
  const isOnly = session.chats.length === 1 && isDefaultChat(session, chat.resource);
  const listed = isOnly ? summaryOf(client.sessions.value, uri)?.changes : undefined;
  const watch = useChangeset(listed ? undefined : changesetOf(session, chat));
  if (listed) return listed;
  return countEdits(watch?.state.value?.files.map((file) => file.edit) ?? []);
}
