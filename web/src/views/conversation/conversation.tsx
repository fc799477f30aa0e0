/** A session: the conversation in one of its chats, what it waits for, and the composer. */
import { useComputed, useSignal } from "@preact/signals";
import { useEffect, useMemo, useRef } from "preact/hooks";
import { client, useChat, useSession } from "../../ahp";
import type { ChatClientAction, ChatState, Message, SessionState, URI } from "../../ahp/wire";
import { QuestionForm } from "../forms/questions";
import { Markdown } from "../markdown/markdown";
import { newId } from "../parts/ids";
import { hrefOf } from "../route";
import { fork, multipleChats } from "../sessions/actions";
import { takeFirstMessage } from "../sessions/firstmessage";
import { type Access, AccessProvider } from "./access";
import { Announcer } from "./announcer";
import { Approvals } from "./approvals";
import { beginChat } from "./beginnings";
import { ChangesLine } from "./changesline";
import { ChatRow, SourceLine } from "./chatrow";
import { chatOf, isDefaultChat, nameOfChat, NEW_CHAT } from "./chats";
import { Composer } from "./composer";
import { draftFrom, draftOf, EMPTY, keepDraft } from "./drafts";
import { Header } from "./header";
import { useMarkRead } from "./markread";
import { nextModel } from "./modelpicker";
import { NewChat } from "./newchat";
import { Pending } from "./pending";
import { regenerate, replaceTurn } from "./regenerate";
import { timeNow } from "./times";
import { Transcript } from "./transcript";
import { openRequests } from "./waiting";

interface ConversationProps {
  uri: URI;
  /** The chat of the address; by default, the first one of the session. */
  chat: URI | undefined;
}

/** Show a session. */
export function Conversation({ uri, chat: wanted }: ConversationProps) {
  const watch = useSession(uri);
  const session = watch.state.value;
  const shown = session && chatOf(session, wanted);
  const chatWatch = useChat(shown);
  const chat = chatWatch?.state.value;
  const presence = watch.presence.value;
  const wasRemoved = useRemoval(session, shown);
  const name = session && chat && !isDefaultChat(session, chat.resource) ? nameOfChat(session, chat) : "";
  useEffect(() => {
    const names = [name, session && (session.title || "Untitled"), "agenthost"];
    document.title = names.filter(Boolean).join(" · ");
  }, [session?.title, name]);
  if (presence.status === "gone") return <Empty text={`This session is not there. ${presence.reason}`} />;
  if (!session || !shown) return <Empty text="Loading" />;
  if (wanted === NEW_CHAT) return <NewChat key={uri} uri={uri} session={session} />;
  const chatPresence = chatWatch?.presence.value;
  if (chatPresence?.status === "gone") return <ChatGone uri={uri} reason={chatPresence.reason} />;
  if (wasRemoved) return <ChatGone uri={uri} reason="It was removed." />;
  if (!chat) return <Empty text="Loading" />;
  return <Open key={shown} uri={uri} session={session} chat={chat} />;
}

/** Whether a chat was removed from its session. A new one may not be in it yet. */
function useRemoval(session: SessionState | undefined, chat: URI | undefined): boolean {
  const seen = useRef<URI | undefined>(undefined);
  const isThere = session?.chats.some((one) => one.resource === chat) ?? false;
  if (isThere) seen.current = chat;
  return !isThere && chat !== undefined && seen.current === chat;
}

function Empty({ text }: { text: string }) {
  return (
    <>
      <Header />
      <div class="empty">{text}</div>
    </>
  );
}

function ChatGone({ uri, reason }: { uri: URI; reason: string }) {
  return (
    <>
      <Header />
      <div class="empty">
        <p>This chat is not there. {reason}</p>
        <a href={hrefOf(uri)}>Go to the session</a>
      </div>
    </>
  );
}

interface OpenProps {
  uri: URI;
  session: SessionState;
  chat: ChatState;
}

function Open({ uri, session, chat }: OpenProps) {
  const latest = useRef({ session, chat });
  latest.current = { session, chat };
  const { resource } = chat;
  const key = isDefaultChat(session, resource) ? uri : resource;
  const busy = useSignal(false);
  busy.value = chat.activeTurn !== undefined;
  const isBusy = useComputed(() => busy.value);
  const editing = useSignal<string | undefined>(undefined);
  const sent = useSignal(0);
  const act = (action: ChatClientAction) => void client.dispatch(resource, action).catch(() => undefined);
  const say = (message: Message) => {
    const action = { type: "chat/turnStarted", turnId: newId(), startedAt: timeNow(), message } as const;
    // It is refused if another client was faster.
    void client.dispatch(resource, action).catch(() => keepDraft(key, message));
    sent.value++;
  };
  const place = () => {
    const now = latest.current;
    return { chat: now.chat, key, model: nextModel(now.session, now.chat, key) };
  };
  const isOpen = (chat.interactivity ?? "full") === "full";
  const hasSideChats = multipleChats(session.provider)?.sideChat === true;
  const access = useMemo<Access>(
    () => ({
      session: uri,
      chat: resource,
      key,
      get folder() {
        const now = latest.current;
        const folders = now.chat.workingDirectories ?? now.session.workingDirectories;
        return folders?.[0] ?? client.welcome.value?.defaultDirectory;
      },
      isBusy,
      isOpen,
      act,
      edit: (turnId) => {
        const turn = latest.current.chat.turns.find((one) => one.id === turnId);
        if (!turn) return;
        editing.value = turnId;
        draftOf(key).value = draftFrom(turn.message);
      },
      regenerate: (turnId) => void regenerate(place, turnId).then((isSent) => isSent && sent.value++),
      fork: (turnId) => void fork(uri, latest.current.session, resource, turnId),
      askAside: hasSideChats
        ? (turnId, words) =>
            beginChat(uri, {
              kind: "sideChat",
              chat: resource,
              turnId,
              ...(words && { selection: { text: words } }),
            })
        : undefined,
    }),
    [uri, resource, key, isOpen, hasSideChats],
  );
  const stopEditing = () => {
    editing.value = undefined;
    draftOf(key).value = EMPTY;
  };
  const send = (message: Message) => {
    const turnId = editing.value;
    editing.value = undefined;
    if (turnId === undefined) say(message);
    else void replaceTurn(place(), turnId, message).then((isSent) => isSent && sent.value++);
  };
  useMarkRead(uri, session, chat);
  useEffect(() => {
    const first = session.lifecycle === "ready" ? takeFirstMessage(key) : undefined;
    if (first) say(first);
  }, [key, session.lifecycle]);
  return (
    <AccessProvider value={access}>
      <Header uri={uri} session={session} chat={chat} />
      <ChatRow uri={uri} session={session} shown={resource} />
      <SourceLine uri={uri} session={session} chat={chat} />
      {chat.turns.length === 0 && !chat.activeTurn ? (
        <Beginning session={session} />
      ) : (
        <Transcript chat={chat} sent={sent.value} />
      )}
      <div class="below">
        <Approvals chat={chat} />
        <Requests chat={chat} act={act} />
        <Pending chat={chat} />
        <ChangesLine uri={uri} session={session} chat={chat} />
        {isOpen ? (
          <Composer
            session={session}
            chat={chat}
            onSend={send}
            editing={editing.value === undefined ? undefined : { onCancel: stopEditing }}
          />
        ) : (
          <p class="faint">This chat is only for reading.</p>
        )}
      </div>
      <Announcer session={session} chat={chat} />
    </AccessProvider>
  );
}

function Beginning({ session }: { session: SessionState }) {
  const agent = client.root.value?.agents.find((one) => one.provider === session.provider);
  if (session.lifecycle === "failed") {
    return (
      <div class="empty">
        <p class="failure">
          <strong>The session could not be made.</strong> {session.creationError?.message}
        </p>
      </div>
    );
  }
  return (
    <div class="empty">
      <h2>{agent?.displayName ?? session.provider}</h2>
      {agent && <Markdown text={agent.description} />}
      {session.lifecycle === "creating" && <p>Getting ready</p>}
    </div>
  );
}

function Requests({ chat, act }: { chat: ChatState; act: (action: ChatClientAction) => void }) {
  const requests = openRequests(chat);
  if (requests.length === 0) return null;
  return (
    <div class="requests">
      {requests.map((request) => (
        <QuestionForm
          key={request.id}
          request={request}
          onDraft={(questionId, answer) =>
            act({
              type: "chat/inputAnswerChanged",
              requestId: request.id,
              questionId,
              ...(answer && { answer }),
            })
          }
          onComplete={(response, answers) => {
            act({
              type: "chat/inputCompleted",
              requestId: request.id,
              response,
              ...(answers && { answers }),
            });
            document.querySelector<HTMLElement>(".composer textarea")?.focus(); // the form is gone
          }}
        />
      ))}
    </div>
  );
}
