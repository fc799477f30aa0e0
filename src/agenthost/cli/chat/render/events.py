"""Events: what is new in a session's state, each reported once and in order. Pure; knows no terminal.

The reader compares states, not actions. So it does not matter whether a state came from deltas, a replay or
a snapshot after a reconnect: nothing is reported twice. Nothing is taken back either, so a tool call is
reported when it has ended, and everything after it waits.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from agenthost.core.queries import ENDED_CALL_STATUSES

__all__ = [
    "CallEnded",
    "ContentAdded",
    "EventReader",
    "Notice",
    "SessionEvent",
    "TextDelta",
    "TextDone",
    "TurnEnded",
    "TurnStarted",
    "TurnsRemoved",
    "plain_text",
]


@dataclass(frozen=True, slots=True)
class TurnStarted:
    """A turn began with this message."""

    turn_id: str
    message: Any


@dataclass(frozen=True, slots=True)
class TextDelta:
    """More of an answer, or of the reasoning before it."""

    kind: Literal["text", "thought"]
    text: str


@dataclass(frozen=True, slots=True)
class TextDone:
    """The text or thought is complete."""


@dataclass(frozen=True, slots=True)
class CallEnded:
    """A tool call has ended, successfully or not."""

    call: Any


@dataclass(frozen=True, slots=True)
class Notice:
    """A notification from the host."""

    text: str


@dataclass(frozen=True, slots=True)
class ContentAdded:
    """The agent shows content, by reference."""

    ref: Any


@dataclass(frozen=True, slots=True)
class TurnEnded:
    """A turn has ended."""

    turn: Any


@dataclass(frozen=True, slots=True)
class TurnsRemoved:
    """Turns that were reported have been removed from the session."""

    count: int


SessionEvent: TypeAlias = (
    TurnStarted | TextDelta | TextDone | CallEnded | Notice | ContentAdded | TurnEnded | TurnsRemoved
)


def plain_text(value: Any) -> str:
    """Return the text of a string, or of a Markdown object."""
    return str(value.get("markdown", "")) if isinstance(value, dict) else str(value or "")


class EventReader:
    """Reads events from the states of one session, and remembers how far it got."""

    def __init__(self) -> None:
        self._reported: list[str] = []
        self._turn_id: str | None = None
        self._part = 0
        self._length = 0

    def skip(self, state: Any, keep: int) -> int:
        """Skip all ended turns but the last `keep`. Return how many were skipped."""
        skipped = state["turns"][: max(0, len(state["turns"]) - keep)]
        self._reported = [turn["id"] for turn in skipped]
        return len(skipped)

    def read(self, state: Any) -> Iterator[SessionEvent]:
        """Yield what is new since the last state. Read it to the end."""
        yield from self._removed(state)
        for turn in state["turns"][len(self._reported) :]:
            yield from self._read_turn(turn, is_over=True)
            self._reported.append(turn["id"])
            self._turn_id = None
        if "activeTurn" in state:
            yield from self._read_turn(state["activeTurn"], is_over=False)

    def unreported_calls(self, state: Any) -> list[Any]:
        """Return the calls of the active turn that are not reported yet."""
        turn = state.get("activeTurn")
        if turn is None:
            return []
        parts = turn["responseParts"][self._part if turn["id"] == self._turn_id else 0 :]
        return [part["toolCall"] for part in parts if part["kind"] == "toolCall"]

    def _removed(self, state: Any) -> Iterator[SessionEvent]:
        kept = self._count_kept(state["turns"])
        removed = len(self._reported) - kept
        self._reported = self._reported[:kept]
        present = [turn["id"] for turn in state["turns"][kept:]] + [state.get("activeTurn", {}).get("id")]
        if self._turn_id is not None and self._turn_id not in present:
            self._turn_id = None
            removed += 1
        if removed:
            yield TurnsRemoved(removed)

    def _count_kept(self, turns: list[Any]) -> int:
        """Count the reported turns that are still there."""
        count = len(self._reported)
        # Nearly always all of them are: comparing the last one is enough.
        if not count or (len(turns) >= count and turns[count - 1]["id"] == self._reported[-1]):
            return count
        pairs = zip(self._reported, turns, strict=False)
        return next(
            (at for at, (turn_id, turn) in enumerate(pairs) if turn["id"] != turn_id), min(count, len(turns))
        )

    def _read_turn(self, turn: Any, *, is_over: bool) -> Iterator[SessionEvent]:
        if turn["id"] != self._turn_id:
            self._turn_id, self._part, self._length = turn["id"], 0, 0
            yield TurnStarted(turn["id"], turn["message"])
        parts = turn["responseParts"]
        while self._part < len(parts):
            is_last = self._part == len(parts) - 1
            yield from self._read_part(parts[self._part], is_over=is_over)
            if not is_over and not _is_final(parts[self._part], is_last=is_last):
                return
            if parts[self._part]["kind"] in ("markdown", "reasoning"):
                yield TextDone()
            self._part, self._length = self._part + 1, 0
        if is_over:
            yield TurnEnded(turn)

    def _read_part(self, part: Any, *, is_over: bool) -> Iterator[SessionEvent]:
        match part["kind"]:
            case "markdown" | "reasoning":
                delta, self._length = part["content"][self._length :], len(part["content"])
                if delta:
                    yield TextDelta("text" if part["kind"] == "markdown" else "thought", delta)
            case "toolCall" if is_over or part["toolCall"]["status"] in ENDED_CALL_STATUSES:
                yield CallEnded(part["toolCall"])
            case "systemNotification":
                yield Notice(plain_text(part["content"]))
            case "contentRef":
                yield ContentAdded(part)


def _is_final(part: Any, *, is_last: bool) -> bool:
    """Return whether a part of the active turn no longer changes; only its last text grows."""
    if part["kind"] == "toolCall":
        return part["toolCall"]["status"] in ENDED_CALL_STATUSES
    return not (is_last and part["kind"] in ("markdown", "reasoning"))
