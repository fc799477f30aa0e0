/** A chat that is about to begin. It is made with its first message, which names it. */
import { useSignal } from "@preact/signals";
import { useMemo } from "preact/hooks";
import { client } from "../../ahp";
import type { ChatState, Message, SessionState, URI } from "../../ahp/wire";
import { toastError } from "../parts/toasts";
import { goTo } from "../route";
import { type Access, AccessProvider } from "./access";
import { nextSource } from "./beginnings";
import { ChatRow, SourceLine } from "./chatrow";
import { chatOf, NEW_CHAT } from "./chats";
import { Composer } from "./composer";
import { draftFrom, draftOf } from "./drafts";
import { Header } from "./header";
import { timeNow } from "./times";

/** Show where the first message is written. */
export function NewChat({ uri, session }: { uri: URI; session: SessionState }) {
  const source = nextSource(uri);
  const key = `${uri} ${NEW_CHAT}`;
  const isBusy = useSignal(false);
  const chat = useMemo<ChatState>(
    () => ({
      resource: NEW_CHAT,
      title: "New chat",
      status: 1,
      modifiedAt: timeNow(),
      turns: [],
      ...(source && { origin: source }),
    }),
    [uri, source],
  );
  const begin = async (initialMessage: Message) => {
    if (isBusy.value) return;
    isBusy.value = true;
    try {
      goTo(uri, await client.createChat(uri, { initialMessage, ...(source && { source }) }));
    } catch (error) {
      draftOf(key).value = draftFrom(initialMessage);
      toastError(error, "The chat was not made");
    }
    isBusy.value = false;
  };
  const nothing = () => undefined;
  const access: Access = {
    session: uri,
    chat: chatOf(session, undefined) ?? uri, // its completions are the same
    key,
    folder: session.workingDirectories?.[0] ?? client.welcome.value?.defaultDirectory,
    isBusy,
    isOpen: true,
    act: nothing,
    edit: nothing,
    regenerate: nothing,
    fork: nothing,
    askAside: undefined,
  };
  return (
    <AccessProvider value={access}>
      <Header uri={uri} session={session} chat={chat} />
      <ChatRow uri={uri} session={session} shown={NEW_CHAT} />
      <SourceLine uri={uri} session={session} chat={chat} />
      <div class="empty">
        <p>
          {source
            ? "The agent knows what was said there. What is said here stays here."
            : "This chat begins with nothing but the settings of its session."}
        </p>
      </div>
      <div class="below">
        <Composer
          session={session}
          chat={chat}
          onSend={(message) => void begin(message)}
          editing={undefined}
        />
      </div>
    </AccessProvider>
  );
}
