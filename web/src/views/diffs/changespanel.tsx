/** All that a session has changed in files. */
import { client } from "../../ahp";
import type { SessionSummary } from "../../ahp/wire";
import { FileEdits } from "./fileedits";

/** Show the changes. */
export function ChangesPanel({ summary }: { summary: SessionSummary | undefined }) {
  const diffs = summary?.diffs ?? [];
  if (!summary) return <div class="empty">No session is open.</div>;
  if (diffs.length === 0) return <div class="empty">This session has changed no files.</div>;
  const sum = (side: "added" | "removed") =>
    diffs.reduce((total, edit) => total + (edit.diff?.[side] ?? 0), 0);
  return (
    <div class="scroll grow pad">
      <p class="faint summary-line">
        {diffs.length} file{diffs.length === 1 ? "" : "s"}, <span class="plus">+{sum("added")}</span>{" "}
        <span class="minus">−{sum("removed")}</span>
      </p>
      <FileEdits edits={diffs} folder={summary.workingDirectory ?? client.welcome.value?.defaultDirectory} />
    </div>
  );
}
