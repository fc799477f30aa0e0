/** One question of a form, each kind with the field that fits it. */
import { useId } from "preact/hooks";
import type { ChatInputOption, ChatInputQuestion } from "../../ahp/wire";
import type { Entry } from "./answers";

interface QuestionFieldProps {
  question: ChatInputQuestion;
  entry: Entry;
  hint: string;
  problem: string | undefined;
  /** Takes a function of the current entry: two changes may come between two renderings. */
  onChange: (change: (entry: Entry) => Entry) => void;
  onFocus: (is: boolean) => void;
}

/** Show a question and its field. */
export function QuestionField(props: QuestionFieldProps) {
  const { question, hint, problem, onFocus } = props;
  const id = useId();
  const notes = [hint && `${id}-hint`, problem && `${id}-problem`].filter(Boolean).join(" ");
  const isGroup = question.kind.endsWith("select") || question.kind === "boolean";
  const Holder = isGroup ? "fieldset" : "div";
  const Label = isGroup ? "legend" : "label";
  const target = isGroup ? {} : { for: id };
  return (
    <Holder
      class="field"
      data-question={question.id}
      aria-describedby={isGroup && notes ? notes : undefined}
      onFocusIn={() => onFocus(true)}
      onFocusOut={() => onFocus(false)}
    >
      <Label {...target}>
        {question.title && <span class="field-title">{question.title}:</span>} {question.message}
        {question.required && <span class="needed"> (needed)</span>}
      </Label>
      <Control {...props} id={id} notes={notes || undefined} />
      {hint && (
        <small id={`${id}-hint`} class="faint">
          {hint}
        </small>
      )}
      {problem && (
        <small id={`${id}-problem`} class="problem">
          {problem}
        </small>
      )}
    </Holder>
  );
}

type ControlProps = QuestionFieldProps & { id: string; notes: string | undefined };

function Control(props: ControlProps) {
  switch (props.question.kind) {
    case "boolean":
      return <YesNo {...props} />;
    case "single-select":
    case "multi-select":
      return <Choices {...props} question={props.question} />;
    default:
      return <TextControl {...props} />;
  }
}

const INPUT_TYPES: Readonly<Record<string, "email" | "url" | "date" | "datetime-local">> = {
  email: "email",
  uri: "url",
  date: "date",
  "date-time": "datetime-local",
};

function TextControl({ question, entry, problem, onChange, id, notes }: ControlProps) {
  const isText = question.kind === "text";
  const common = {
    id,
    value: entry.text ?? "",
    "aria-describedby": notes,
    "aria-invalid": problem !== undefined,
    "aria-required": question.required ?? false,
    onInput: (event: Event) => {
      const text = (event.currentTarget as HTMLInputElement).value;
      onChange(() => ({ text }));
    },
  };
  const format = isText ? (question.format ?? "") : "";
  if (isText && !INPUT_TYPES[format] && (question.max ?? Number.POSITIVE_INFINITY) > 200)
    return <textarea rows={3} {...common} />;
  const mode = isText ? {} : ({ inputMode: question.kind === "integer" ? "numeric" : "decimal" } as const);
  return <input type={(INPUT_TYPES[format] ?? "text") as "text"} autocomplete="off" {...mode} {...common} />;
}

function YesNo({ entry, onChange, id }: ControlProps) {
  return (
    <div class="choices inline">
      {[true, false].map((yes) => (
        <label key={String(yes)} class="choice">
          <input
            type="radio"
            name={id}
            checked={entry.yes === yes}
            onChange={() => onChange(() => ({ yes }))}
          />
          {yes ? "Yes" : "No"}
        </label>
      ))}
    </div>
  );
}

type SelectQuestion = Extract<ChatInputQuestion, { options: readonly ChatInputOption[] }>;

function Choices({ question, entry, onChange, id }: ControlProps & { question: SelectQuestion }) {
  const isMany = question.kind === "multi-select";
  const chosen = entry.chosen ?? [];
  const choose = (option: string, is: boolean) =>
    onChange((now) => {
      const others = isMany ? (now.chosen ?? []).filter((one) => one !== option) : [];
      return { ...now, chosen: is ? [...others, option] : others, ...(!isMany && { other: "" }) };
    });
  return (
    <div class="choices">
      {question.options.map((option) => (
        <label key={option.id} class="choice">
          <input
            type={isMany ? "checkbox" : "radio"}
            name={id}
            checked={chosen.includes(option.id)}
            onChange={(event) => choose(option.id, event.currentTarget.checked)}
          />
          <span>
            {option.label}
            {option.recommended && <span class="tag">recommended</span>}
            {option.description && <small class="faint">{option.description}</small>}
          </span>
        </label>
      ))}
      {question.allowFreeformInput && (
        <input
          type="text"
          aria-label={isMany ? "Others, with commas between" : "Something else"}
          placeholder={isMany ? "Others, with commas between" : "Something else"}
          value={entry.other ?? ""}
          onInput={(event) => {
            const other = event.currentTarget.value;
            onChange((now) => ({ ...now, other, ...(!isMany && { chosen: [] }) }));
          }}
        />
      )}
    </div>
  );
}
