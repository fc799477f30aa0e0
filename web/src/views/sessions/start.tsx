/** The start page: a field to write in, the choices for the session as chips, and examples to click. */
import { useSignal } from "@preact/signals";
import { useEffect, useId, useRef } from "preact/hooks";
import { AhpError, client } from "../../ahp";
import { type AgentInfo, ErrorCode, type Message } from "../../ahp/wire";
import { draftOf, EMPTY, isSendable, messageOf, userMessage } from "../conversation/drafts";
import { DrawerButton, PanelButtons } from "../conversation/header";
import { choiceOf } from "../conversation/models";
import { Markdown } from "../markdown/markdown";
import { toastError } from "../parts/toasts";
import { beginnings, goTo } from "../route";
import { useChoices } from "./choices";
import { CreateForm } from "./create";
import { examplesFor } from "./examples";
import { setFirstMessage } from "./firstmessage";
import { StartComposer } from "./startcomposer";
import { askForTokens } from "./tokens";

/** The key of the draft here, as there is no session yet. */
const DRAFT = "new";

/** Show the start page. */
export function StartView() {
  useEffect(() => void (document.title = "agenthost"), []);
  const [first, ...others] = client.root.value?.agents ?? [];
  return (
    <>
      <header class="bar">
        <DrawerButton />
        <h1 class="grow">New session</h1>
        <PanelButtons changes={0} />
      </header>
      {first ? (
        <Start agents={[first, ...others]} />
      ) : (
        <div class="empty">{client.root.value && "There are no agents here."}</div>
      )}
    </>
  );
}

function Start({ agents }: { agents: readonly [AgentInfo, ...AgentInfo[]] }) {
  const choices = useChoices(agents);
  const { selection } = choices;
  const draft = draftOf(DRAFT);
  const isOpen = useSignal(false);
  const isMaking = useSignal(false);
  const form = useId();
  const page = useRef<HTMLDivElement>(null);
  useEffect(() => {
    // Not where it would open a keyboard on the screen.
    if (matchMedia("(hover: hover)").matches) page.current?.querySelector("textarea")?.focus();
  }, [beginnings.value]);
  const create = async (message: Message | undefined): Promise<boolean> => {
    if (isMaking.value) return false;
    isMaking.value = true;
    try {
      const uri = await askForTokens(() => client.createSession(choices.params));
      choiceOf(uri).value = selection;
      if (message) setFirstMessage(uri, message);
      goTo(uri);
      return true;
    } catch (error) {
      toastError(error, "The session was not made");
      // Errors of an option are shown in the form of the options.
      if (error instanceof AhpError && error.code === ErrorCode.InvalidParams) isOpen.value = true;
      return false;
    } finally {
      isMaking.value = false;
    }
  };
  const send = async () => {
    const message = isSendable(draft.value) ? messageOf(draft.value, selection) : undefined;
    if (await create(message)) draft.value = EMPTY;
  };
  return (
    <div ref={page} class="start scroll grow">
      <div class="greeting">
        <h2>What would you like to do?</h2>
        <Markdown text={choices.agent.description} />
      </div>
      <StartComposer
        draft={draft}
        choices={choices}
        options={{ isOpen: isOpen.value, form, toggle: () => (isOpen.value = !isOpen.value) }}
        isMaking={isMaking.value}
        onSend={() => void send()}
      />
      {isOpen.value ? (
        <CreateForm id={form} choices={choices} isMaking={isMaking.value} onCreate={() => void send()} />
      ) : (
        <Examples
          provider={choices.agent.provider}
          isMaking={isMaking.value}
          onChoose={(text) => void create(userMessage(text, selection))}
        />
      )}
    </div>
  );
}

interface ExamplesProps {
  provider: string;
  isMaking: boolean;
  onChoose: (text: string) => void;
}

function Examples({ provider, isMaking, onChoose }: ExamplesProps) {
  return (
    <ul class="examples" aria-label="Examples">
      {examplesFor(provider).map(({ label, text }) => (
        <li key={text}>
          <button type="button" class="card" disabled={isMaking} onClick={() => onChoose(text)}>
            <span>{label}</span>
            <small class="faint">{text}</small>
          </button>
        </li>
      ))}
    </ul>
  );
}
