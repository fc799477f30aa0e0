/** Why a turn failed, and how it goes on if it can. */
import type { ErrorInfo, ErrorResponsePart, Turn } from "../../ahp/wire";
import { Icon } from "../parts/icon";
import { useAccess } from "./access";

/** Give the error that ended a turn. */
export function errorOf({ responseParts }: Pick<Turn, "responseParts">): ErrorInfo | undefined {
  const part = responseParts.findLast((one) => one.kind === "error");
  return part?.kind === "error" ? part.error : undefined;
}

interface FailureProps {
  part: ErrorResponsePart;
  turnId: string;
  /** The turn ended with it; else it went on. */
  isEnd: boolean;
  /** The turn can go on from here, now. */
  canResume: boolean;
}

/** Show an error; one that a turn can go on from has a button for that. */
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
