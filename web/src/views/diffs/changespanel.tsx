/** All file changes of a chat, or of one of its turns. */
import { useSignal } from "@preact/signals";
import { client, useChangeset } from "../../ahp";
import type { ChatState, SessionState } from "../../ahp/wire";
import { isDefaultChat } from "../conversation/chats";
import { changesetOf, countEdits, notedEdits, turnChangesetOf, turnsWithEdits } from "./edits";
import { FileEdits } from "./fileedits";

interface ChangesPanelProps {
  session: SessionState | undefined;
  /** The chat that is shown. */
  chat: ChatState | undefined;
}

/** Show the changes. */
export function ChangesPanel({ session, chat }: ChangesPanelProps) {
  if (!session || !chat) return <div class="empty">No session is open.</div>;
  return <Changes key={chat.resource} session={session} chat={chat} />;
}

function Changes({ session, chat }: { session: SessionState; chat: ChatState }) {
  const wanted = useSignal("");
  const turns = turnsWithEdits(chat);
  // The turn may have been removed since.
  const turn = turns.some((one) => one.id === wanted.value) ? wanted.value : "";
  const uri = turn ? turnChangesetOf(session, chat, turn) : changesetOf(session, chat);
  const canChoose = turns.length > 1 && turnChangesetOf(session, chat, "") !== undefined;
  return (
    <>
      {canChoose && (
        <div class="changes-of">
          <select
            aria-label="Changes of"
            value={turn}
            onChange={(event) => (wanted.value = event.currentTarget.value)}
          >
            <option value="">All changes</option>
            {turns.map((one) => (
              <option key={one.id} value={one.id}>
                {one.message.text.slice(0, 80)}
              </option>
            ))}
          </select>
        </div>
      )}
      <ChangeList key={uri} session={session} chat={chat} uri={uri} />
    </>
  );
}

interface ChangeListProps {
  session: SessionState;
  chat: ChatState;
  /** The changeset; none, if the host offers none. */
  uri: string | undefined;
}

function ChangeList({ session, chat, uri }: ChangeListProps) {
  const watch = useChangeset(uri);
  const state = watch?.state.value;
  const presence = watch?.presence.value;
  if (presence?.status === "gone") return <div class="empty">{presence.reason}</div>;
  if (state?.status === "error")
    return <div class="empty">The changes cannot be told. {state.error?.message}</div>;
  if (watch && (!state || (state.status === "computing" && state.files.length === 0)))
    return <div class="empty">Loading</div>;
  const isFirst = isDefaultChat(session, chat.resource);
  const noted = isFirst ? notedEdits(session._meta) : [];
  const edits = state?.files.map((file) => file.edit) ?? noted;
  if (edits.length === 0)
    return <div class="empty">This {isFirst ? "session" : "chat"} has changed no files.</div>;
  const { additions, deletions } = countEdits(edits);
  const folder = session.workingDirectories?.[0] ?? client.welcome.value?.defaultDirectory;
  return (
    <div class="scroll grow pad">
      <p class="faint summary-line">
        {edits.length} file{edits.length === 1 ? "" : "s"}, <span class="plus">+{additions}</span>{" "}
        <span class="minus">−{deletions}</span>
      </p>
      <FileEdits edits={edits} folder={folder} />
    </div>
  );
}
