"""Live states: a state, and the text that was appended to it since.

A turn may have hundreds of thousands of deltas. If each copied the text so far, a long turn would cost the
square of its length. So a delta is appended to a log that all later versions share, and each version knows
how much of the log is its own; reading the state folds the log in. Versions stay independent: when one is
extended a second time, in another direction, its part of the log is copied first.
"""

from typing import Any, Generic, TypeVar

import msgspec

S = TypeVar("S")


class Growth(Generic[S]):
    """The log of appended texts, and where in the state they belong. Subclasses know how to fold it in."""

    __slots__ = ("log",)

    def __init__(self) -> None:
        # Flat, alternating targets and texts: a delta allocates nothing but the new version.
        self.log: list[Any] = []

    def fold(self, base: S, texts: dict[Any, str]) -> S:
        """Return `base` with these texts appended, each to its target."""
        raise NotImplementedError

    def copy(self, length: int) -> "Growth[S]":
        """Return a copy with only the first `length` entries of the log."""
        raise NotImplementedError


class Live(msgspec.Struct, Generic[S], gc=False):
    """One version of a state. Treat it as a value: `state` is what it holds."""

    base: S
    growth: Growth[S] | None = None
    length: int = 0

    @property
    def state(self) -> S:
        """The whole state as plain JSON. Do not change it."""
        if self.growth is not None:
            # Folded once and kept. The value stays the same, so this is not a change (G2).
            self.base = self.growth.fold(self.base, _texts(self.growth.log[: self.length]))
            self.growth, self.length = None, 0
        return self.base

    def grown(self, growth: Growth[S], target: Any, text: str) -> "Live[S]":
        """Return the next version, with `text` appended where `target` says."""
        length = self.length
        log = growth.log
        # A longer log means that this version was extended before: what follows is another version's.
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
