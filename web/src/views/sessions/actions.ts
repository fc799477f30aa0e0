/** Actions on a session, or on one of its chats, from the list or a menu. */
import { client } from "../../ahp";
import type { ChatState, ChatSummary, SessionState, SessionSummary, URI } from "../../ahp/wire";
import { beginChat } from "../conversation/beginnings";
import { isDefaultChat, nameOfChat, NEW_CHAT } from "../conversation/chats";
import { askFor, confirm } from "../parts/dialog";
import type { MenuItem } from "../parts/menu";
import { toastError } from "../parts/toasts";
import { goHome, goTo, route } from "../route";
import { isMarkedUnread, noteOpened } from "./opened";
import { isArchived } from "./summaries";

/** The parts of a session that actions need. */
type Named = Pick<SessionSummary, "resource" | "title" | "status">;

/** List what a menu of a session offers. */
export function sessionMenu(summary: Named): MenuItem[] {
  const session = summary.resource;
  const unread = isMarkedUnread(summary);
  const archived = isArchived(summary);
  return [
    { label: "Rename", icon: "edit", run: () => void rename(summary) },
    {
      label: unread ? "Mark as read" : "Mark as unread",
      icon: "mail",
      run: () => {
        noteOpened(session); // an explicit mark is shown
        void client.dispatch(session, { type: "session/isReadChanged", isRead: unread });
      },
    },
    {
      label: archived ? "Take out of the archive" : "Archive",
      icon: "archive",
      run: () => void client.dispatch(session, { type: "session/isArchivedChanged", isArchived: !archived }),
    },
    { label: "Export as Markdown", icon: "down", run: () => void save(session, "markdown") },
    { label: "Export as JSON", icon: "down", run: () => void save(session, "json") },
    { label: "Delete", icon: "remove", danger: true, run: () => void remove(summary) },
  ];
}

async function save(session: URI, format: "markdown" | "json"): Promise<void> {
  try {
    const { exportSession } = await import("./exporting");
    await exportSession(session, format);
  } catch (error) {
    toastError(error, "It was not exported");
  }
}

/** Ask for another title. */
export async function rename({ resource, title: old }: Named): Promise<void> {
  const title = await askFor("Rename session", "Title", old, "Rename");
  if (title && title !== old) void client.dispatch(resource, { type: "session/titleChanged", title });
}

/** Delete a session, after asking. */
export async function remove({ resource, title }: Named): Promise<void> {
  const is = await confirm(
    "Delete session?",
    `“${title}” and all that was said in it will be gone for good.`,
    "Delete",
  );
  if (!is) return;
  try {
    await client.request("disposeSession", { channel: resource });
    if (route.value.view === "session" && route.value.uri === resource) goHome();
  } catch (error) {
    toastError(error, "It was not deleted");
  }
}

// Chats

/** Return how an agent may have several chats in a session; nothing, if it may not. */
export function multipleChats(provider: string) {
  const agent = client.root.value?.agents.find((one) => one.provider === provider);
  return agent?.capabilities?.multipleChats;
}

/** List what a menu of the chat that is shown offers. */
export function chatMenu(uri: URI, session: SessionState, chat: ChatState): MenuItem[] {
  if (chat.resource === NEW_CHAT) return [];
  const last = chat.turns.at(-1);
  const isFirst = isDefaultChat(session, chat.resource);
  return [
    ...(multipleChats(session.provider)
      ? [{ label: "New chat", icon: "add", run: () => beginChat(uri) } as const]
      : []),
    {
      label: "Fork",
      icon: "fork",
      disabled: !last,
      run: () => last && void fork(uri, session, chat.resource, last.id),
    },
    ...(multipleChats(session.provider)?.sideChat
      ? [
          {
            label: "Ask aside",
            icon: "aside",
            disabled: !last,
            run: () => last && beginChat(uri, { kind: "sideChat", chat: chat.resource, turnId: last.id }),
          } as const,
        ]
      : []),
    ...(chat.movable && !isFirst
      ? [
          {
            label: "Move to a session of its own",
            icon: "panel",
            run: () => void moveOut(chat.resource),
          } as const,
        ]
      : []),
    ...(isFirst
      ? []
      : [
          {
            label: "Delete chat",
            icon: "remove",
            run: () => void removeChat(uri, session, chat),
          } as const,
        ]),
  ];
}

/** Make a chat that begins with the turns up to this one, and go there. Without chats it is a session. */
export async function fork(uri: URI, session: SessionState, chat: URI, turnId: string): Promise<void> {
  const { provider } = session;
  try {
    if (multipleChats(provider)?.fork)
      goTo(uri, await client.createChat(uri, { source: { kind: "fork", chat, turnId } }));
    else {
      const _meta = { agenthost: { fork: { session: uri, turnId } } };
      goTo(await client.createSession({ provider, _meta }));
    }
  } catch (error) {
    toastError(error, "It was not forked");
  }
}

async function moveOut(chat: URI): Promise<void> {
  try {
    const { session } = await client.request("moveChat", {
      channel: chat,
      destination: { kind: "newSession" },
    });
    goTo(session);
  } catch (error) {
    toastError(error, "It was not moved");
  }
}

/** Delete a chat, after asking. */
export async function removeChat(uri: URI, session: SessionState, chat: ChatSummary): Promise<void> {
  const name = nameOfChat(session, chat);
  const is = await confirm("Delete chat?", `“${name}” will be gone for good.`, "Delete");
  if (!is) return;
  try {
    goTo(uri);
    await client.request("disposeChat", { channel: chat.resource });
  } catch (error) {
    toastError(error, "It was not deleted");
  }
}
