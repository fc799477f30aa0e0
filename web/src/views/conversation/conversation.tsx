/** A session: what was said in it, what it waits for, and where one speaks. */
import { useComputed, useSignal } from "@preact/signals";
import { useEffect, useMemo, useRef } from "preact/hooks";
import { client, useSession } from "../../ahp";
import type { SessionState, UserMessage } from "../../ahp/wire";
import { QuestionForm } from "../forms/questions";
import { Markdown } from "../markdown/markdown";
import { newId } from "../parts/ids";
import { fork } from "../sessions/actions";
import { takeFirstMessage } from "../sessions/firstmessage";
import { type Access, AccessProvider, type OwnAction } from "./access";
import { Announcer } from "./announcer";
import { Approvals } from "./approvals";
import { Composer } from "./composer";
import { draftFrom, draftOf, EMPTY } from "./drafts";
import { Header } from "./header";
import { useMarkRead } from "./markread";
import { Pending } from "./pending";
import { regenerate, replaceTurn } from "./regenerate";
import { Transcript } from "./transcript";

/** Show a session. */
export function Conversation({ uri }: { uri: string }) {
  const watch = useSession(uri);
  const state = watch.state.value;
  const presence = watch.presence.value;
  useEffect(() => {
    document.title = state ? `${state.summary.title || "Untitled"} · agenthost` : "agenthost";
  }, [state?.summary.title]);
  if (presence.status === "gone") return <Gone reason={presence.reason} />;
  if (!state) return <Empty text="Loading" />;
  return <Open key={uri} uri={uri} state={state} />;
}

function Gone({ reason }: { reason: string }) {
  return <Empty text={`This session is not there. ${reason}`} />;
}

function Empty({ text }: { text: string }) {
  return (
    <>
      <Header state={undefined} />
      <div class="empty">{text}</div>
    </>
  );
}

function Open({ uri, state }: { uri: string; state: SessionState }) {
  const latest = useRef(state);
  latest.current = state;
  const busy = useSignal(false);
  busy.value = state.activeTurn !== undefined;
  const isBusy = useComputed(() => busy.value);
  const editing = useSignal<string | undefined>(undefined);
  const sent = useSignal(0);
  const act = (action: OwnAction) => void client.dispatch({ ...action, session: uri }).catch(() => undefined);
  const say = (userMessage: UserMessage) => {
    act({ type: "session/turnStarted", turnId: newId(), userMessage });
    sent.value++;
  };
  const access = useMemo<Access>(
    () => ({
      uri,
      get folder() {
        return latest.current.summary.workingDirectory ?? client.welcome.value?.defaultDirectory;
      },
      isBusy,
      act,
      edit: (turnId) => {
        const turn = latest.current.turns.find((one) => one.id === turnId);
        if (!turn) return;
        editing.value = turnId;
        draftOf(uri).value = draftFrom(turn.userMessage);
      },
      regenerate: (turnId) =>
        void regenerate(() => latest.current, turnId).then((isSent) => isSent && sent.value++),
      fork: (turnId) => void fork(latest.current.summary, turnId),
    }),
    [uri],
  );
  const stopEditing = () => {
    editing.value = undefined;
    draftOf(uri).value = EMPTY;
  };
  const send = (message: UserMessage) => {
    const turnId = editing.value;
    editing.value = undefined;
    if (turnId === undefined) say(message);
    else void replaceTurn(latest.current, turnId, message).then((isSent) => isSent && sent.value++);
  };
  useMarkRead(state, act);
  useEffect(() => {
    const first = state.lifecycle === "ready" ? takeFirstMessage(uri) : undefined;
    if (first) say(first);
  }, [uri, state.lifecycle]);
  return (
    <AccessProvider value={access}>
      <Header state={state} />
      {state.turns.length === 0 && !state.activeTurn ? (
        <Beginning state={state} />
      ) : (
        <Transcript state={state} sent={sent.value} />
      )}
      <div class="below">
        <Approvals state={state} />
        <Requests state={state} act={act} />
        <Pending state={state} />
        <Composer
          state={state}
          onSend={send}
          editing={editing.value === undefined ? undefined : { onCancel: stopEditing }}
        />
      </div>
      <Announcer state={state} />
    </AccessProvider>
  );
}

function Beginning({ state }: { state: SessionState }) {
  const agent = client.root.value?.agents.find((one) => one.provider === state.summary.provider);
  if (state.lifecycle === "creationFailed") {
    return (
      <div class="empty">
        <p class="failure">
          <strong>The session could not be made.</strong> {state.creationError?.message}
        </p>
      </div>
    );
  }
  return (
    <div class="empty">
      <h2>{agent?.displayName ?? state.summary.provider}</h2>
      {agent && <Markdown text={agent.description} />}
      {state.lifecycle === "creating" && <p>Getting ready</p>}
    </div>
  );
}

function Requests({ state, act }: { state: SessionState; act: (action: OwnAction) => void }) {
  if (!state.inputRequests || state.inputRequests.length === 0) return null;
  return (
    <div class="requests">
      {state.inputRequests.map((request) => (
        <QuestionForm
          key={request.id}
          request={request}
          onDraft={(questionId, answer) =>
            act({
              type: "session/inputAnswerChanged",
              requestId: request.id,
              questionId,
              ...(answer && { answer }),
            })
          }
          onComplete={(response, answers) => {
            act({
              type: "session/inputCompleted",
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
