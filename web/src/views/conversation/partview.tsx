/** A part of an answer, by its kind. */
import { useSignal } from "@preact/signals";
import { memo } from "preact/compat";
import type { ResponsePart } from "../../ahp/wire";
import { ContentView } from "../files/contentview";
import { Markdown, Words } from "../markdown/markdown";
import { Icon } from "../parts/icon";
import { AskedView } from "./askedview";
import { Failure } from "./failures";
import { ToolCallView } from "./toolcallview";

interface PartViewProps {
  part: ResponsePart;
  turnId: string;
  /** Whether the answer is still running. */
  isActive: boolean;
  /** Whether it is the last part of a running answer. */
  isGrowing: boolean;
  /** Whether it is the last part of a finished answer. */
  isEnd: boolean;
  /** Whether the turn failed here and can be resumed. */
  canResume: boolean;
}

/** Show a part. */
export const PartView = memo(function PartView(props: PartViewProps) {
  const { part, turnId, isActive, isGrowing, isEnd, canResume } = props;
  switch (part.kind) {
    case "markdown":
      return <Markdown text={part.content} streaming={isGrowing} />;
    case "reasoning":
      return <Thinking text={part.content} isGrowing={isGrowing} />;
    case "toolCall":
      return <ToolCallView call={part.toolCall} turnId={turnId} />;
    case "contentRef":
      return <ContentView content={part} />;
    case "systemNotification":
      return (
        <div class="notification" role="note" aria-label="Notice">
          <Words value={part.content} />
        </div>
      );
    case "inputRequest":
      return <AskedView part={part} isActive={isActive} />;
    case "error":
      return <Failure part={part} turnId={turnId} isEnd={isEnd} canResume={canResume} />;
    default:
      return (
        <p class="faint">A part of a kind that this page does not know: {(part as { kind: string }).kind}</p>
      );
  }
});

/** Thoughts are folded; while they stream, their last line shows the progress. */
function Thinking({ text, isGrowing }: { text: string; isGrowing: boolean }) {
  const open = useSignal(false);
  return (
    <details class="thinking" onToggle={(event) => (open.value = event.currentTarget.open)}>
      <summary>
        <Icon name="think" />
        <span>{isGrowing ? "Thinking" : "Thought"}</span>
        {isGrowing && !open.value && <span class="preview faint">{text.slice(-160).split("\n").at(-1)}</span>}
      </summary>
      {open.value && <Markdown text={text} streaming={isGrowing} />}
    </details>
  );
}
