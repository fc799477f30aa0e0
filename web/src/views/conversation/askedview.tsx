/** Questions of a turn, and their answers. Open questions are shown as a form elsewhere. */
import type { ChatInputAnswer, ChatInputQuestion, InputRequestResponsePart } from "../../ahp/wire";
import { Markdown } from "../markdown/markdown";

/** Show the questions; nothing while they are open. */
export function AskedView({ part, isActive }: { part: InputRequestResponsePart; isActive: boolean }) {
  const { request, response } = part;
  if (!response && isActive) return null;
  const answered = (request.questions ?? []).map((one) => [one, answerText(one, request.answers?.[one.id])]);
  return (
    <section class="card asked" aria-label="Questions">
      <div class="asked-head">
        <span class="grow">{request.message ? <Markdown text={request.message} /> : "The agent asked"}</span>
        <span class="badge">{outcomeOf(response)}</span>
      </div>
      {response === "accept" && answered.length > 0 && (
        <dl class="facts">
          {(answered as [ChatInputQuestion, string][]).map(([{ id, title, message }, text]) => (
            <>
              <dt key={id}>{title || message}</dt>
              <dd dir="auto">{text || "–"}</dd>
            </>
          ))}
        </dl>
      )}
    </section>
  );
}

function outcomeOf(response: InputRequestResponsePart["response"]): string {
  if (!response) return "not answered";
  return { accept: "answered", decline: "declined", cancel: "dismissed" }[response] ?? response;
}

/** Return the answer, in the words of the question. */
export function answerText(question: ChatInputQuestion, answer: ChatInputAnswer | undefined): string {
  if (!answer || answer.state === "skipped") return "";
  const { value } = answer;
  switch (value.kind) {
    case "boolean":
      return value.value ? "Yes" : "No";
    case "selected":
    case "selected-many": {
      const chosen = [value.value].flat().filter(Boolean).map((id) => labelIn(question, id)); // prettier-ignore
      return [...chosen, ...(value.freeformValues ?? [])].join(", ");
    }
    default:
      return String(value.value);
  }
}

function labelIn(question: ChatInputQuestion, id: string): string {
  const options = "options" in question ? question.options : [];
  return options.find((one) => one.id === id)?.label ?? id;
}
