/** A request for input as a form. What is typed is a draft that everybody sees; accepting it is the answer. */
import { useSignal } from "@preact/signals";
import { useEffect, useId, useRef } from "preact/hooks";
import type { ChatInputAnswer, ChatInputQuestion, ChatInputRequest, ChatInputResponse } from "../../ahp/wire";
import { safeHref } from "../markdown/links";
import { Markdown } from "../markdown/markdown";
import { type Entry, entryFor, hintFor, problemWith, valueOf } from "./answers";
import { QuestionField } from "./questionfield";

const DRAFT_MS = 250;

interface QuestionFormProps {
  request: ChatInputRequest;
  onDraft: (questionId: string, answer: ChatInputAnswer | undefined) => void;
  onComplete: (response: ChatInputResponse, answers?: Record<string, ChatInputAnswer>) => void;
}

/** Show a request for input. */
export function QuestionForm({ request, onDraft, onComplete }: QuestionFormProps) {
  const questions = request.questions ?? [];
  const drafts = useDrafts(request, onDraft);
  const tried = useSignal(false);
  const form = useRef<HTMLFormElement>(null);
  const heading = useId();
  const accept = () => {
    tried.value = true;
    drafts.flush();
    const wrong = questions.find((one) => problemWith(one, drafts.entryOf(one)));
    if (wrong) {
      const field = form.current?.querySelector<HTMLElement>(`[data-question="${CSS.escape(wrong.id)}"]`);
      field?.querySelector<HTMLElement>("input, textarea")?.focus();
      return;
    }
    onComplete(
      "accept",
      Object.fromEntries(questions.map((one) => [one.id, answerTo(one, drafts.entryOf(one))])),
    );
  };
  return (
    <form
      ref={form}
      class="card asking"
      aria-labelledby={heading}
      onSubmit={(event) => {
        event.preventDefault();
        accept();
      }}
      noValidate
    >
      <h3 id={heading}>{request.message ? <Markdown text={request.message} /> : "The agent asks"}</h3>
      <RequestLink url={request.url} />
      {questions.map((one) => (
        <QuestionField
          key={one.id}
          question={one}
          entry={drafts.entryOf(one)}
          hint={hintFor(one)}
          problem={tried.value ? problemWith(one, drafts.entryOf(one)) : undefined}
          onChange={(change) => drafts.change(one, change(drafts.entryOf(one)))}
          onFocus={(is) => drafts.focus(is ? one.id : undefined)}
        />
      ))}
      <div class="buttons">
        <button type="submit" class="primary">
          {questions.length > 0 ? "Answer" : "Done"}
        </button>
        <button type="button" onClick={() => onComplete("decline")}>
          Decline
        </button>
        <button type="button" class="quiet" onClick={() => onComplete("cancel")}>
          Dismiss
        </button>
      </div>
    </form>
  );
}

function RequestLink({ url }: { url: string | undefined }) {
  const href = url === undefined ? undefined : safeHref(url);
  if (!href) return url ? <p class="mono">{url}</p> : null;
  return (
    <p>
      <a href={href} target="_blank" rel="noopener noreferrer">
        {href}
      </a>
    </p>
  );
}

function answerTo(question: ChatInputQuestion, entry: Entry): ChatInputAnswer {
  const value = valueOf(question, entry);
  return value === undefined ? { state: "skipped" } : { state: "submitted", value };
}

function isSame(one: ChatInputAnswer | undefined, other: ChatInputAnswer | undefined): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}

/**
 * The contents of the fields: what is typed here, and what others type, unless the user is typing here.
 *
 * Our drafts come back as answers, but with less than what was typed: for an invalid value there is no
 * draft at all. So they never replace it.
 */
function useDrafts(request: ChatInputRequest, onDraft: QuestionFormProps["onDraft"]) {
  const entries = useSignal<Readonly<Record<string, Entry>>>({});
  const focused = useRef<string | undefined>(undefined);
  const waiting = useRef(new Map<string, { question: ChatInputQuestion; entry: Entry }>());
  // Drafts that may still come back, oldest first: the echo of a draft can arrive after the next one was sent.
  const sent = useRef(new Map<string, (ChatInputAnswer | undefined)[]>());
  const timer = useRef<number | undefined>(undefined);
  const seen = useRef(request.answers);
  useEffect(() => {
    const before = seen.current;
    seen.current = request.answers;
    const mine = { ...entries.value };
    for (const question of request.questions ?? []) {
      const answer = request.answers?.[question.id];
      if (answer === before?.[question.id]) continue;
      const echoed = sent.current.get(question.id) ?? [];
      const place = echoed.findIndex((draft) => isSame(answer, draft));
      if (place >= 0) echoed.splice(0, place);
      const isTyped = question.id === focused.current || waiting.current.has(question.id);
      if (place >= 0 || isTyped) continue;
      mine[question.id] = entryFor(question, answer);
      sent.current.delete(question.id);
    }
    entries.value = mine;
  }, [request.answers]);
  const flush = () => {
    clearTimeout(timer.current);
    timer.current = undefined;
    for (const [id, { question, entry }] of waiting.current) {
      const value = problemWith({ ...question, required: false }, entry)
        ? undefined
        : valueOf(question, entry);
      const draft: ChatInputAnswer | undefined = value && { state: "draft", value };
      sent.current.set(id, [...(sent.current.get(id) ?? []), draft]);
      onDraft(id, draft);
    }
    waiting.current.clear();
  };
  useEffect(() => () => clearTimeout(timer.current), []);
  const entryOf = (question: ChatInputQuestion) =>
    entries.value[question.id] ?? entryFor(question, request.answers?.[question.id]);
  const change = (question: ChatInputQuestion, entry: Entry) => {
    entries.value = { ...entries.value, [question.id]: entry };
    waiting.current.set(question.id, { question, entry });
    timer.current ??= window.setTimeout(flush, DRAFT_MS);
  };
  const focus = (id: string | undefined) => {
    focused.current = id;
    if (id === undefined && timer.current !== undefined) flush();
  };
  return { entryOf, change, focus, flush };
}
