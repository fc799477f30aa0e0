"""The story: what is new in a session's state, told once and in order. Pure; knows no terminal.

It looks at states, not at actions: however a state came about, by deltas, a replay or a snapshot after a lost
connection, what was told before is not told again. What is told is never taken back, so a call is told when
it is over, and what comes after it waits; `waiting` has what cannot be told yet.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

__all__ = ["Called", "Cut", "Ended", "Event", "Over", "Piece", "Said", "Shown", "Story", "Told", "plain_of"]

FINAL = ("completed", "cancelled")
"""The states in which a call is over."""


@dataclass(frozen=True, slots=True)
class Said:
    """A turn begins: somebody said something."""

    turn_id: str
    message: Any


@dataclass(frozen=True, slots=True)
class Piece:
    """More of an answer, or of the thoughts before it."""

    kind: Literal["text", "thought"]
    text: str


@dataclass(frozen=True, slots=True)
class Over:
    """The text, or the thought, is whole."""


@dataclass(frozen=True, slots=True)
class Called:
    """A call is over, well or not."""

    call: Any


@dataclass(frozen=True, slots=True)
class Told:
    """The host says something itself."""

    text: str


@dataclass(frozen=True, slots=True)
class Shown:
    """There is content to look at, by reference."""

    ref: Any


@dataclass(frozen=True, slots=True)
class Ended:
    """A turn is over."""

    turn: Any


@dataclass(frozen=True, slots=True)
class Cut:
    """So many turns that were told have been taken out of the session."""

    turns: int


Event: TypeAlias = Said | Piece | Over | Called | Told | Shown | Ended | Cut
"""What can be told."""


def plain_of(words: Any) -> str:
    """Give a text that may be marked as Markdown."""
    return str(words.get("markdown", "")) if isinstance(words, dict) else str(words or "")


class Story:
    """How far a session was told."""

    def __init__(self) -> None:
        self._told: list[str] = []
        self._turn_id: str | None = None
        self._part = 0
        self._length = 0

    def skip(self, state: Any, last: int) -> int:
        """Leave out all turns that have ended but the last ones; gives how many were left out."""
        old = state["turns"][: max(0, len(state["turns"]) - last)]
        self._told = [turn["id"] for turn in old]
        return len(old)

    def look(self, state: Any) -> Iterator[Event]:
        """Give what is new since the last look. To be read to the end."""
        yield from self._missing(state)
        for turn in state["turns"][len(self._told) :]:
            yield from self._turn(turn, is_over=True)
            self._told.append(turn["id"])
            self._turn_id = None
        if "activeTurn" in state:
            yield from self._turn(state["activeTurn"], is_over=False)

    def waiting(self, state: Any) -> list[Any]:
        """Give the calls of the running turn that are not told yet."""
        turn = state.get("activeTurn")
        if turn is None:
            return []
        parts = turn["responseParts"][self._part if turn["id"] == self._turn_id else 0 :]
        return [part["toolCall"] for part in parts if part["kind"] == "toolCall"]

    def _missing(self, state: Any) -> Iterator[Event]:
        kept = self._kept(state["turns"])
        gone = len(self._told) - kept
        self._told = self._told[:kept]
        there = [turn["id"] for turn in state["turns"][kept:]] + [state.get("activeTurn", {}).get("id")]
        if self._turn_id is not None and self._turn_id not in there:
            self._turn_id = None
            gone += 1
        if gone:
            yield Cut(gone)

    def _kept(self, turns: list[Any]) -> int:
        """Count the turns that were told and are still there. Nearly always all: the last tells."""
        count = len(self._told)
        if not count or (len(turns) >= count and turns[count - 1]["id"] == self._told[-1]):
            return count
        pairs = zip(self._told, turns, strict=False)
        return next(
            (at for at, (name, turn) in enumerate(pairs) if turn["id"] != name), min(count, len(turns))
        )

    def _turn(self, turn: Any, *, is_over: bool) -> Iterator[Event]:
        if turn["id"] != self._turn_id:
            self._turn_id, self._part, self._length = turn["id"], 0, 0
            yield Said(turn["id"], turn["userMessage"])
        parts = turn["responseParts"]
        while self._part < len(parts):
            is_last = self._part == len(parts) - 1
            yield from self._tell(parts[self._part], is_over=is_over)
            if not is_over and not _is_final(parts[self._part], is_last=is_last):
                return
            if parts[self._part]["kind"] in ("markdown", "reasoning"):
                yield Over()
            self._part, self._length = self._part + 1, 0
        if is_over:
            yield Ended(turn)

    def _tell(self, part: Any, *, is_over: bool) -> Iterator[Event]:
        match part["kind"]:
            case "markdown" | "reasoning":
                piece, self._length = part["content"][self._length :], len(part["content"])
                if piece:
                    yield Piece("text" if part["kind"] == "markdown" else "thought", piece)
            case "toolCall" if is_over or part["toolCall"]["status"] in FINAL:
                yield Called(part["toolCall"])
            case "systemNotification":
                yield Told(plain_of(part["content"]))
            case "contentRef":
                yield Shown(part)


def _is_final(part: Any, *, is_last: bool) -> bool:
    """Tell whether a part stays as it is; text grows only at the end of a turn that runs."""
    if part["kind"] == "toolCall":
        return part["toolCall"]["status"] in FINAL
    return not (is_last and part["kind"] in ("markdown", "reasoning"))
