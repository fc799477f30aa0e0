"""Why an answer stopped early, for people: the protocol has no word for it, so a sentence ends the turn.

What says the sentence and what reads it are both ours, so a client can tell a refusal from an answer.
"""

from typing import Any

__all__ = ["STOPPED", "stop_reason_of"]

STOPPED = {
    "refusal": "The model refused to answer.",
    "max_tokens": "The answer was cut off: the model reached its limit.",
}
"""What people read who see no stop reasons."""


def stop_reason_of(turn: Any) -> str | None:
    """Give why a turn's answer is not whole, though the turn is complete; None if it is, or nobody says."""
    last: Any = turn["responseParts"][-1] if turn["responseParts"] else {}
    if last.get("kind") != "systemNotification":
        return None
    return next((reason for reason, sentence in STOPPED.items() if last.get("content") == sentence), None)
