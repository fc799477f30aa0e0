/** All file changes of a session. */
import { client, useChangeset } from "../../ahp";
import type { SessionState } from "../../ahp/wire";
import { changesetOf, notedEdits } from "./edits";
import { FileEdits } from "./fileedits";

/** Show the changes. */
export function ChangesPanel({ session }: { session: SessionState | undefined }) {
  const watch = useChangeset(session && changesetOf(session));
  const state = watch?.state.value;
  if (!session) return <div class="empty">No session is open.</div>;
  const presence = watch?.presence.value;
  if (presence?.status === "gone") return <div class="empty">{presence.reason}</div>;
  if (state?.status === "error")
    return <div class="empty">The changes cannot be told. {state.error?.message}</div>;
  if (watch && (!state || (state.status === "computing" && state.files.length === 0)))
    return <div class="empty">Loading</div>;
  const edits = state?.files.map((file) => file.edit) ?? notedEdits(session._meta);
  if (edits.length === 0) return <div class="empty">This session has changed no files.</div>;
  const sum = (side: "added" | "removed") =>
    edits.reduce((total, edit) => total + (edit.diff?.[side] ?? 0), 0);
  const folder = session.workingDirectories?.[0] ?? client.welcome.value?.defaultDirectory;
  return (
    <div class="scroll grow pad">
      <p class="faint summary-line">
        {edits.length} file{edits.length === 1 ? "" : "s"}, <span class="plus">+{sum("added")}</span>{" "}
        <span class="minus">−{sum("removed")}</span>
      </p>
      <FileEdits edits={edits} folder={folder} />
    </div>
  );
}
