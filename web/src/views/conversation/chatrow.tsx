/** The chats of a session in a row, where there is more than one. */
import type { SessionState, URI } from "../../ahp/wire";
import { rove } from "../parts/roving";
import { hrefOf } from "../route";
import { StatusDot } from "../sessions/badge";
import { isDefaultChat, listChats, nameOfChat } from "./chats";

interface ChatRowProps {
  uri: URI;
  session: SessionState;
  /** The chat that is shown. */
  shown: URI;
}

/** Show the chats; nothing, if there is only one. */
export function ChatRow({ uri, session, shown }: ChatRowProps) {
  const chats = listChats(session, shown);
  if (chats.length === 0) return null;
  return (
    <nav class="chats" aria-label="Chats" onKeyDown={(event) => rove(event, "a", "horizontal")}>
      <ul>
        {chats.map((chat) => {
          const { resource, status } = chat;
          const isShown = resource === shown;
          return (
            <li key={resource}>
              <a
                href={isDefaultChat(session, resource) ? hrefOf(uri) : hrefOf(uri, resource)}
                aria-current={isShown ? "page" : undefined}
                tabIndex={isShown ? 0 : -1}
              >
                <StatusDot status={status} isUnread={false} />
                <span dir="auto">{nameOfChat(session, chat)}</span>
              </a>
            </li>
          );
        })}
      </ul>
    </nav>
  );
}
