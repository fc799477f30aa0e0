/** Why a turn failed, and how to resume it if possible. */
import type { ErrorInfo, ErrorResponsePart, Turn } from "../../ahp/wire";
import { Icon } from "../parts/icon";
import { useAccess } from "./access";

/** Return the error that ended a turn. */
export function errorOf({ responseParts }: Pick<Turn, "responseParts">): ErrorInfo | undefined {
  const part = responseParts.findLast((one) => one.kind === "error");
  return part?.kind === "error" ? part.error : undefined;
}

interface FailureProps {
  part: ErrorResponsePart;
  turnId: string;
  /** Whether the turn ended with it. */
  isEnd: boolean;
  /** Whether the turn can be resumed now. */
  canResume: boolean;
}

/** Show an error, with a button if the turn can be resumed. */
export function Failure({ part: { error }, turnId, isEnd, canResume }: FailureProps) {
  const { act } = useAccess();
  return (
    <div class="failure" role="note">
      <p>
        <strong>{isEnd ? "The turn failed." : "It failed here, and went on."}</strong> {error.message}{" "}
        <span class="faint mono">{error.errorType}</span>
      </p>
      {canResume && (
        <button
          type="button"
          class="small"
          title="Go on from where it failed"
          onClick={() => {
            act({ type: "chat/turnResume", turnId });
            document.querySelector<HTMLElement>(".composer textarea")?.focus(); // the button is gone
          }}
        >
          <Icon name="play" /> Try again
        </button>
      )}
    </div>
  );
}
