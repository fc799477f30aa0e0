/** What can be done with a session from outside of it. */
import { client } from "../../ahp";
import type { SessionSummary } from "../../ahp/wire";
import { askFor, confirm } from "../parts/dialog";
import type { MenuItem } from "../parts/menu";
import { toastError } from "../parts/toasts";
import { goHome, goTo, route } from "../route";
import { isMarkedUnread, noteOpened } from "./opened";
import { isArchived } from "./summaries";

/** List what a menu of a session offers. */
export function sessionMenu(summary: SessionSummary): MenuItem[] {
  const session = summary.resource;
  const unread = isMarkedUnread(summary);
  const archived = isArchived(summary);
  return [
    { label: "Rename", icon: "edit", run: () => void rename(summary) },
    {
      label: unread ? "Mark as read" : "Mark as unread",
      icon: "mail",
      run: () => {
        noteOpened(session); // a mark that somebody sets is shown
        void client.dispatch({ type: "session/isReadChanged", session, isRead: unread });
      },
    },
    {
      label: archived ? "Take out of the archive" : "Archive",
      icon: "archive",
      run: () => void client.dispatch({ type: "session/isArchivedChanged", session, isArchived: !archived }),
    },
    { label: "Export as Markdown", icon: "down", run: () => void save(summary, "markdown") },
    { label: "Export as JSON", icon: "down", run: () => void save(summary, "json") },
    { label: "Delete", icon: "remove", danger: true, run: () => void remove(summary) },
  ];
}

async function save(summary: SessionSummary, format: "markdown" | "json"): Promise<void> {
  try {
    const { exportSession } = await import("./exporting");
    await exportSession(summary, format);
  } catch (error) {
    toastError(error, "It was not exported");
  }
}

/** Ask for another title. */
export async function rename(summary: SessionSummary): Promise<void> {
  const title = await askFor("Rename session", "Title", summary.title, "Rename");
  if (title && title !== summary.title)
    void client.dispatch({ type: "session/titleChanged", session: summary.resource, title });
}

/** Delete a session, if that is meant. */
export async function remove(summary: SessionSummary): Promise<void> {
  const is = await confirm(
    "Delete session?",
    `“${summary.title}” and all that was said in it will be gone for good.`,
    "Delete",
  );
  if (!is) return;
  try {
    await client.request("disposeSession", { session: summary.resource });
    if (route.value.view === "session" && route.value.uri === summary.resource) goHome();
  } catch (error) {
    toastError(error, "It was not deleted");
  }
}

/** Make a session of its own that begins with the turns up to this one, and go there. */
export async function fork(summary: SessionSummary, turnId: string): Promise<void> {
  try {
    goTo(
      await client.createSession({ provider: summary.provider, fork: { session: summary.resource, turnId } }),
    );
  } catch (error) {
    toastError(error, "It was not forked");
  }
}
