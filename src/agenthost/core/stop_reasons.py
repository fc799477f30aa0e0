"""Stop reasons: why an answer stopped early. AHP has no field for it, so a sentence ends the turn.

Host and client share the sentences, so a client can tell a refusal from an answer.
"""

from typing import Any

__all__ = ["STOP_SENTENCES", "stop_reason_of"]

STOP_SENTENCES = {
    "refusal": "The model refused to answer.",
    "max_tokens": "The answer was cut off: the model reached its limit.",
}
"""The sentence for each stop reason, for people."""


def stop_reason_of(turn: Any) -> str | None:
    """Return why the answer of a complete turn stopped early; `None` if it did not, as far as is known."""
    last: Any = turn["responseParts"][-1] if turn["responseParts"] else {}
    if last.get("kind") != "systemNotification":
        return None
    said = last.get("content")
    return next((reason for reason, sentence in STOP_SENTENCES.items() if sentence == said), None)
