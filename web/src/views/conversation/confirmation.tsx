/** Approvals: a call before it runs, or its result before the agent sees it. */
import { type Signal, useSignal } from "@preact/signals";
import { useRef } from "preact/hooks";
import type { ConfirmationOption, ToolCallState } from "../../ahp/wire";
import { FileEdits } from "../diffs/fileedits";
import { ContentView } from "../files/contentview";
import { Words } from "../markdown/markdown";
import { Icon } from "../parts/icon";
import { useAccess } from "./access";
import { pretty, readInput, withCommand } from "./inputs";
import { Folded, InputView, isEmpty } from "./toolinput";

type Waiting = Extract<ToolCallState, { status: "pending-confirmation" }>;

/** Ask whether a call may run: with its options, or yes and no; the input can be edited if the tool permits it. */
export function CallConfirmation({ call, turnId }: { call: Waiting; turnId: string }) {
  const { act, folder } = useAccess();
  const changed = useSignal<string | undefined>(undefined);
  const reason = useSignal<string | undefined>(undefined);
  const group = useRef<HTMLDivElement>(null);
  const given = typeof call.toolInput === "string" ? call.toolInput : "";
  const isEdited = changed.value !== undefined && changed.value !== editableText(given);
  const answer = (option: ConfirmationOption | undefined, approved: boolean) => {
    leave(group.current);
    const common = {
      type: "chat/toolCallConfirmed",
      turnId,
      toolCallId: call.toolCallId,
      ...(option && { selectedOptionId: option.id }),
    } as const;
    if (approved) {
      const edited = isEdited ? { editedToolInput: inputFrom(given, changed.value ?? "") } : {};
      act({ ...common, approved: true, confirmed: "user-action", ...edited });
    } else {
      const words = reason.value?.trim();
      act({ ...common, approved: false, reason: "denied", ...(words && { reasonMessage: words }) });
    }
  };
  return (
    <div ref={group} class="confirmation" role="group" aria-label={`Approve ${call.displayName}?`}>
      <p class="question">
        <Words value={call.confirmationTitle ?? `Allow ${call.displayName}?`} />
      </p>
      {call.riskAssessment?.status === "complete" && (
        <p class="faint">
          <Words value={call.riskAssessment.reason} />
        </p>
      )}
      {call.edits && <FileEdits edits={call.edits.items} folder={folder} />}
      {typeof call.toolInput === "object" && <ContentView content={call.toolInput} />}
      {!isEmpty(given) && (
        <Folded isFolded={call.edits !== undefined} title="Input">
          {call.editable ? (
            <ChangeableInput text={given} changed={changed} isBeside={call.edits !== undefined} />
          ) : (
            <InputView text={given} isBeside={call.edits !== undefined} />
          )}
        </Folded>
      )}
      <Buttons options={call.options} isEdited={isEdited} reason={reason} onAnswer={answer} />
    </div>
  );
}

interface ChangeableInputProps {
  text: string;
  changed: Signal<string | undefined>;
  /** Whether its changes are shown already. */
  isBeside: boolean;
}

/** The input for reading, until the user edits it. */
function ChangeableInput({ text, changed, isBeside }: ChangeableInputProps) {
  const field = useRef<HTMLTextAreaElement>(null);
  const name = readInput(text).kind === "command" ? "command" : "input";
  const title = `${name[0]!.toUpperCase()}${name.slice(1)}`;
  if (changed.value === undefined) {
    const open = () => {
      changed.value = editableText(text);
      requestAnimationFrame(() => field.current?.focus());
    };
    return (
      <>
        <InputView text={text} isBeside={isBeside} />
        <button type="button" class="quiet small change" onClick={open}>
          <Icon name="edit" /> Change the {name}
        </button>
      </>
    );
  }
  return (
    <textarea
      ref={field}
      class="mono"
      aria-label={`${title}, which you may change`}
      rows={Math.min(12, changed.value.split("\n").length + 1)}
      spellcheck={false}
      value={changed.value}
      onInput={(event) => (changed.value = event.currentTarget.value)}
    />
  );
}

/** The text that the user edits: a command alone, or the whole input. */
function editableText(given: string): string {
  const input = readInput(given);
  return input.kind === "command" ? input.command : (pretty(given) ?? given);
}

function inputFrom(given: string, text: string): string {
  return readInput(given).kind === "command" ? withCommand(given, text) : compact(text);
}

/** The buttons disappear after use: the focus stays with the call. */
function leave(group: HTMLElement | null): void {
  if (group?.contains(document.activeElement))
    group.closest(".tool")?.querySelector<HTMLElement>(".tool-head")?.focus();
}

/** The agent gets the JSON as its tools send it, not as it was formatted for people. */
function compact(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text));
  } catch {
    return text;
  }
}

interface ButtonsProps {
  options: readonly ConfirmationOption[] | undefined;
  isEdited: boolean;
  reason: { value: string | undefined };
  onAnswer: (option: ConfirmationOption | undefined, approved: boolean) => void;
}

function Buttons({ options, isEdited, reason, onAnswer }: ButtonsProps) {
  const field = useRef<HTMLInputElement>(null);
  const denials = options?.filter((one) => one.kind === "deny") ?? [];
  const offered = options?.filter((one) => one.kind === "approve") ?? [];
  // Wider options are about the original input, so an edited input is approved once.
  const approvals = isEdited ? offered.slice(0, 1) : offered;
  const isPlain = !options || options.length === 0;
  if (reason.value !== undefined) {
    return (
      <form
        class="buttons denial"
        onSubmit={(event) => {
          event.preventDefault();
          onAnswer(denials[0], false);
        }}
        onKeyDown={(event) => event.key === "Escape" && (event.stopPropagation(), (reason.value = undefined))}
      >
        <input
          ref={field}
          type="text"
          aria-label="Why not, for the agent"
          placeholder="Why not, for the agent"
          value={reason.value}
          onInput={(event) => (reason.value = event.currentTarget.value)}
          autofocus
        />
        <button type="submit" class="danger">
          Deny
        </button>
        <button type="button" class="quiet" onClick={() => (reason.value = undefined)}>
          Back
        </button>
      </form>
    );
  }
  return (
    <div class="buttons">
      {isPlain ? (
        <button type="button" class="primary" onClick={() => onAnswer(undefined, true)}>
          {isEdited ? "Approve as changed" : "Approve"}
        </button>
      ) : (
        approvals.map((one, at) => (
          <button
            key={one.id}
            type="button"
            class={at === 0 ? "primary" : undefined}
            onClick={() => onAnswer(one, true)}
          >
            {one.label}
            {isEdited && " as changed"}
          </button>
        ))
      )}
      {isPlain ? (
        <button type="button" onClick={() => onAnswer(undefined, false)}>
          Deny
        </button>
      ) : (
        denials.map((one) => (
          <button key={one.id} type="button" onClick={() => onAnswer(one, false)}>
            {one.label}
          </button>
        ))
      )}
      {(isPlain || denials.length > 0) && (
        <button
          type="button"
          class="quiet"
          onClick={() => ((reason.value = ""), requestAnimationFrame(() => field.current?.focus()))}
        >
          Deny with a reason
        </button>
      )}
    </div>
  );
}

type WaitingResult = Extract<ToolCallState, { status: "pending-result-confirmation" }>;

/** Ask whether the agent may see a result. */
export function ResultConfirmation({ call, turnId }: { call: WaitingResult; turnId: string }) {
  const { act } = useAccess();
  const group = useRef<HTMLDivElement>(null);
  const answer = (approved: boolean) => {
    leave(group.current);
    act({ type: "chat/toolCallResultConfirmed", turnId, toolCallId: call.toolCallId, approved });
  };
  return (
    <div
      ref={group}
      class="confirmation"
      role="group"
      aria-label={`Hand over the result of ${call.displayName}?`}
    >
      <p class="question">May the agent see this result?</p>
      <div class="buttons">
        <button type="button" class="primary" onClick={() => answer(true)}>
          Hand it over
        </button>
        <button type="button" onClick={() => answer(false)}>
          Keep it back
        </button>
      </div>
    </div>
  );
}
