"""Comparing texts within bounds: which of many is most like one, and whether two are quickly compared. Pure.

Python's `difflib` is exact, and at worst takes the product of what it compares several times over. What is
compared here comes from models and files, so how much that may be is decided first.
"""

from collections import Counter
from collections.abc import Sequence
from difflib import SequenceMatcher

__all__ = ["are_quickly_compared", "find_nearest"]

MAX_COMPARED = 120
"""How many characters of each text count for how much they are alike."""

MAX_CLOSELY = 12
"""How many candidates are compared closely: those that have the most characters in common."""

MAX_PAIRS = 4_000_000
"""How many pairs of lines there may be, to compare two texts line by line."""

MAX_EQUAL_PAIRS = 250_000
"""How many of these may be equal: each is looked at, more than once."""


def find_nearest(wanted: str, candidates: Sequence[str], least: float = 0.6) -> int | None:
    """Return the place of the candidate that is most like a text; `None` if none is alike enough."""
    matcher = SequenceMatcher(None, b=wanted[:MAX_COMPARED], autojunk=False)
    likely: list[tuple[float, int]] = []
    for place, candidate in enumerate(candidates):
        matcher.set_seq1(candidate[:MAX_COMPARED])
        if matcher.real_quick_ratio() > least and (ratio := matcher.quick_ratio()) > least:
            likely.append((-ratio, place))
    best, found = least, None
    for bound, place in sorted(likely)[:MAX_CLOSELY]:
        if -bound <= best:  # it, and all that follow, cannot be more alike
            break
        matcher.set_seq1(candidates[place][:MAX_COMPARED])
        if (ratio := matcher.ratio()) > best:
            best, found = ratio, place
    return found


def are_quickly_compared(old: Sequence[str], new: Sequence[str]) -> bool:
    """Return whether `difflib` compares these lines in a moment, whatever they are."""
    if len(old) * len(new) > MAX_PAIRS:
        return False
    counts = Counter(new)
    return sum(counts[line] for line in old) <= MAX_EQUAL_PAIRS
