/** The chats of a session in a row, where there is more than one. */
import { useEffect, useRef } from "preact/hooks";
import type { ChatSummary, SessionState, URI } from "../../ahp/wire";
import { Icon, type IconName } from "../parts/icon";
import { rove } from "../parts/roving";
import { goTo, hrefOf } from "../route";
import { multipleChats, removeChat } from "../sessions/actions";
import { StatusDot } from "../sessions/badge";
import { isMarkedUnread } from "../sessions/opened";
import { beginChat } from "./beginnings";
import { isDefaultChat, listChats, nameOfChat, NEW_CHAT, sourceOf } from "./chats";

interface ChatRowProps {
  uri: URI;
  session: SessionState;
  /** The chat that is shown. */
  shown: URI;
}

/** Show the chats; nothing, if there is only one. */
export function ChatRow({ uri, session, shown }: ChatRowProps) {
  const row = useRef<HTMLElement>(null);
  const chats = listChats(session, shown);
  const isThere = chats.length > 0;
  useEffect(() => {
    row.current?.querySelector("[aria-current]")?.scrollIntoView({ block: "nearest", inline: "nearest" });
  }, [shown, isThere]);
  if (!isThere) return null;
  return (
    <nav
      ref={row}
      class="chats scroll"
      aria-label="Chats"
      onKeyDown={(event) => rove(event, "a", "horizontal")}
    >
      <ul>
        {chats.map((chat) => (
          <li key={chat.resource} class={chat.resource === shown ? "shown" : undefined}>
            <ChatLink uri={uri} session={session} chat={chat} isShown={chat.resource === shown} />
          </li>
        ))}
        {shown === NEW_CHAT && (
          <li class="shown">
            <a href={hrefOf(uri, NEW_CHAT)} aria-current="page">
              <span>New chat</span>
            </a>
            <button
              type="button"
              class="quiet small"
              aria-label="Do not begin a chat"
              title="Do not begin a chat"
              onClick={() => goTo(uri)}
            >
              <Icon name="close" />
            </button>
          </li>
        )}
        {shown !== NEW_CHAT && multipleChats(session.provider) && (
          <li>
            <button
              type="button"
              class="quiet small"
              aria-label="New chat"
              title="New chat"
              onClick={() => beginChat(uri)}
            >
              <Icon name="add" />
            </button>
          </li>
        )}
      </ul>
    </nav>
  );
}

const ICONS: Readonly<Record<string, IconName>> = { fork: "fork", sideChat: "aside", tool: "tool" };

interface ChatLinkProps {
  uri: URI;
  session: SessionState;
  chat: ChatSummary;
  isShown: boolean;
}

function ChatLink({ uri, session, chat, isShown }: ChatLinkProps) {
  const { resource, status, origin } = chat;
  const isFirst = isDefaultChat(session, resource);
  const name = nameOfChat(session, chat);
  const source = sourceOf(session, chat);
  const icon = ICONS[origin?.kind ?? ""];
  return (
    <>
      <a
        href={isFirst ? hrefOf(uri) : hrefOf(uri, resource)}
        title={source ? `${name}: ${source.words} ${source.name}` : name}
        aria-current={isShown ? "page" : undefined}
        tabIndex={isShown ? 0 : -1}
      >
        <StatusDot status={status} isUnread={!isShown && isMarkedUnread(chat)} />
        {icon && <Icon name={icon} />}
        <span dir="auto">{name}</span>
      </a>
      {isShown && !isFirst && (
        <button
          type="button"
          class="quiet small"
          aria-label={`Delete the chat ${name}`}
          title="Delete chat"
          onClick={() => void removeChat(uri, session, chat)}
        >
          <Icon name="close" />
        </button>
      )}
    </>
  );
}

/** Say where a fork or a side chat comes from, with a link. */
export function SourceLine({ uri, session, chat }: { uri: URI; session: SessionState; chat: ChatSummary }) {
  const source = sourceOf(session, chat);
  if (!source) return null;
  return (
    <p class="chat-source faint">
      {source.words}{" "}
      {source.chat ? (
        <a href={isDefaultChat(session, source.chat) ? hrefOf(uri) : hrefOf(uri, source.chat)} dir="auto">
          {source.name}
        </a>
      ) : (
        source.name
      )}
      {source.selection && (
        <q dir="auto" title={source.selection}>
          {source.selection}
        </q>
      )}
    </p>
  );
}
