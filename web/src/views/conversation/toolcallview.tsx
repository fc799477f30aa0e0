/** A tool call: its description and status in a line; its input, output and changes when it is opened. */
import { useSignal } from "@preact/signals";
import { memo } from "preact/compat";
import { useId } from "preact/hooks";
import type { ToolCallState } from "../../ahp/wire";
import { ContentView } from "../files/contentview";
import { Markdown, Words } from "../markdown/markdown";
import { CodeBlock } from "../parts/code";
import { Icon } from "../parts/icon";
import { giveTokens } from "../sessions/tokens";
import { CallConfirmation, ResultConfirmation } from "./confirmation";
import { ToolContent } from "./toolcontent";
import { Input } from "./toolinput";

interface ToolCallViewProps {
  call: ToolCallState;
  turnId: string;
}

/** Show a tool call. */
export const ToolCallView = memo(function ToolCallView({ call, turnId }: ToolCallViewProps) {
  const waits = /^(pending|auth)-/.test(call.status);
  const chosen = useSignal<boolean | undefined>(undefined);
  const isOpen = chosen.value ?? (waits || hasSomethingToSee(call));
  const body = useId();
  const { tone, words } = standing(call);
  return (
    <section
      class={`card tool ${tone}`}
      aria-label={`Tool call: ${call.displayName}`}
      data-call={call.toolCallId}
      data-status={call.status}
    >
      <button
        type="button"
        class="tool-head"
        aria-expanded={isOpen}
        aria-controls={body}
        onClick={() => (chosen.value = !isOpen)}
      >
        <Icon name="chevron" class={isOpen ? "turned" : ""} />
        <Icon name="tool" />
        <strong>{call.displayName}</strong>
        <span class="tool-summary">{summaryOf(call)}</span>
        <span class={`badge ${tone}`}>
          {call.status === "running" || call.status === "streaming" ? (
            <span class="spinner" aria-hidden="true" />
          ) : null}
          {words}
        </span>
      </button>
      <div id={body} class="tool-body" hidden={!isOpen}>
        {isOpen && <Body call={call} turnId={turnId} />}
      </div>
    </section>
  );
});

function Body({ call, turnId }: ToolCallViewProps) {
  const input = call.status === "streaming" ? call.partialInput : call.toolInput;
  const hasContent = "content" in call && call.content !== undefined;
  return (
    <>
      {call.status === "pending-confirmation" ? (
        <CallConfirmation call={call} turnId={turnId} />
      ) : (
        input &&
        (typeof input === "string" ? (
          <Input text={input} isFolded={hasContent} />
        ) : (
          <ContentView content={input} />
        ))
      )}
      {call.status === "auth-required" && <TokenNeeded call={call} />}
      {"content" in call && call.content && (
        <ToolContent content={call.content} isLive={call.status === "running"} />
      )}
      {"structuredContent" in call && call.structuredContent && !("content" in call && call.content) && (
        <CodeBlock text={JSON.stringify(call.structuredContent, null, 2)} language="json" label="Result" />
      )}
      {"error" in call && call.error && (
        <p class="failure" title={call.error.code}>
          {call.error.message}
        </p>
      )}
      {call.status === "cancelled" && <Cancelled call={call} />}
      {call.status === "pending-result-confirmation" && <ResultConfirmation call={call} turnId={turnId} />}
      <Origin call={call} />
    </>
  );
}

function TokenNeeded({ call }: { call: Extract<ToolCallState, { status: "auth-required" }> }) {
  const { resource, description } = call.auth;
  return (
    <div class="confirmation" role="group" aria-label={`Token for ${call.displayName}`}>
      <p class="question">{description ?? `${resource.resource_name ?? resource.resource} wants a token.`}</p>
      <div class="buttons">
        <button type="button" class="primary" onClick={() => void giveTokens([resource])}>
          Give a token
        </button>
      </div>
    </div>
  );
}

function Cancelled({ call }: { call: Extract<ToolCallState, { status: "cancelled" }> }) {
  if (!call.reasonMessage && !call.userSuggestion) return null;
  return (
    <div class="note">
      <Words value={call.reasonMessage} />
      {call.userSuggestion && <p>{call.userSuggestion.text}</p>}
    </div>
  );
}

function Origin({ call }: { call: ToolCallState }) {
  const pieces = [`${call.toolName}`];
  if (call.contributor?.kind === "client") pieces.push(`run by client ${call.contributor.clientId}`);
  if ("confirmed" in call && call.confirmed === "user-action") pieces.push("approved by a user");
  if ("confirmed" in call && call.confirmed === "setting") pieces.push("approved by a setting");
  if ("selectedOption" in call && call.selectedOption) pieces.push(call.selectedOption.label);
  return <small class="origin faint mono">{pieces.join(" · ")}</small>;
}

function summaryOf(call: ToolCallState) {
  const words = "pastTenseMessage" in call ? call.pastTenseMessage : call.invocationMessage;
  if (words !== undefined && typeof words !== "string") return <Markdown text={words.markdown} />;
  return words === call.displayName ? "" : words;
}

/** Content that is visible without a click: changed files, running programs, subagents. */
function hasSomethingToSee(call: ToolCallState): boolean {
  if (call.status === "streaming") return false;
  const content = "content" in call ? call.content : undefined;
  const shown =
    call.status === "running" ? ["fileEdit", "terminal", "subagent", "text"] : ["fileEdit", "subagent"];
  return content?.some((one) => shown.includes(one.type)) ?? false;
}

interface Standing {
  readonly tone: "plain" | "busy" | "waits" | "good" | "bad";
  readonly words: string;
}

function standing(call: ToolCallState): Standing {
  switch (call.status) {
    case "streaming":
      return { tone: "busy", words: "preparing" };
    case "pending-confirmation":
      return { tone: "waits", words: "needs approval" };
    case "running":
      return { tone: "busy", words: "running" };
    case "pending-result-confirmation":
      return { tone: "waits", words: "result needs approval" };
    case "auth-required":
      return { tone: "waits", words: "needs a token" };
    case "completed":
      return call.success ? { tone: "good", words: "done" } : { tone: "bad", words: "failed" };
    case "cancelled":
      return {
        tone: "plain",
        words:
          { denied: "denied", skipped: "skipped", "result-denied": "result denied" }[call.reason] ??
          call.reason,
      };
    default:
      return { tone: "plain", words: (call as { status: string }).status };
  }
}
