"""Live states: a state, and the text that was appended to it since.

A turn may have hundreds of thousands of deltas. If each copied the text so far, a long turn would cost the
square of its length. So a delta goes to the end of a log that all later versions share, and each version
knows how much of that log is its own; whoever reads the state folds it in. Versions stay independent:
one that is grown a second time, in another direction, takes a copy of its part of the log first.
"""

from typing import Any, Generic, TypeVar

import msgspec

S = TypeVar("S")


class Growth(Generic[S]):
    """Where the texts of a state can grow, and what they grew by. Subclasses know how to fold it in."""

    __slots__ = ("log",)

    def __init__(self) -> None:
        # Flat, target and text by turns: no object is made for a delta but the version itself.
        self.log: list[Any] = []

    def fold(self, base: S, texts: dict[Any, str]) -> S:
        """Give `base` with these texts appended, each to its target."""
        raise NotImplementedError

    def copy(self, length: int) -> "Growth[S]":
        """Give a growth of the same places, with the first `length` entries."""
        raise NotImplementedError


class Live(msgspec.Struct, Generic[S], gc=False):
    """One version of a state. Treat it as a value: `state` is what it holds."""

    base: S
    growth: Growth[S] | None = None
    length: int = 0

    @property
    def state(self) -> S:
        """The state as plain JSON, whole. Not to be changed."""
        if self.growth is not None:
            # Folded once: what this version means stays the same, only how it is held changes.
            self.base = self.growth.fold(self.base, _texts(self.growth.log[: self.length]))
            self.growth, self.length = None, 0
        return self.base

    def grown(self, growth: Growth[S], target: Any, text: str) -> "Live[S]":
        """Give the next version, with `text` appended where `target` says."""
        length = self.length
        log = growth.log
        if len(log) != length:
            growth = growth.copy(length)
            log = growth.log
        log.append(target)
        log.append(text)
        return Live(self.base, growth, length + 2)


def _texts(log: list[Any]) -> dict[Any, str]:
    chunks: dict[Any, list[str]] = {}
    for target, text in zip(log[::2], log[1::2], strict=True):
        chunks.setdefault(target, []).append(text)
    return {target: "".join(texts) for target, texts in chunks.items()}
