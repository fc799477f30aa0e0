"""Text similarity, in bounded time: which of many texts is most similar, and which are quick to diff.

At worst, Python's `difflib` takes several times the product of the lengths. The texts here come from models
and files, so their size is bounded first.
"""

from collections import Counter
from collections.abc import Sequence
from difflib import SequenceMatcher

__all__ = ["find_most_similar", "is_quick_to_diff"]

MAX_COMPARED = 120
"""How many characters of each text are compared."""

MAX_CANDIDATES = 12
"""How many candidates are compared exactly: those with the most characters in common."""

MAX_PAIRS = 4_000_000
"""How many pairs of lines there may be in a diff of two texts."""

MAX_EQUAL_PAIRS = 250_000
"""How many of these pairs may be equal: `difflib` visits each of them more than once."""


def find_most_similar(wanted: str, candidates: Sequence[str], min_ratio: float = 0.6) -> int | None:
    """Return the position of the candidate most similar to a text; `None` if none is similar enough."""
    matcher = SequenceMatcher(None, b=wanted[:MAX_COMPARED], autojunk=False)
    likely: list[tuple[float, int]] = []
    for place, candidate in enumerate(candidates):
        matcher.set_seq1(candidate[:MAX_COMPARED])
        if matcher.real_quick_ratio() > min_ratio and (ratio := matcher.quick_ratio()) > min_ratio:
            likely.append((-ratio, place))
    best, found = min_ratio, None
    for bound, place in sorted(likely)[:MAX_CANDIDATES]:
        if -bound <= best:  # upper bounds: neither this one nor any after it can be more similar
            break
        matcher.set_seq1(candidates[place][:MAX_COMPARED])
        if (ratio := matcher.ratio()) > best:
            best, found = ratio, place
    return found


def is_quick_to_diff(old: Sequence[str], new: Sequence[str]) -> bool:
    """Return whether `difflib` can compare these lines in a moment, whatever they are."""
    if len(old) * len(new) > MAX_PAIRS:
        return False
    counts = Counter(new)
    return sum(counts[line] for line in old) <= MAX_EQUAL_PAIRS
