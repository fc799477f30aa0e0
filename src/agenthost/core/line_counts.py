"""How many lines a change adds and removes."""

from collections import Counter
from difflib import SequenceMatcher

from agenthost.core.text_similarity import is_quick_to_diff
from agenthost.wire.ahp.tool import FileEditDiffStats

__all__ = ["count_lines"]


def count_lines(before: str | None, after: str | None) -> FileEditDiffStats:
    """Count the lines that a change adds and removes."""
    old, new = _without_common((before or "").splitlines(), (after or "").splitlines())
    if not is_quick_to_diff(old, new):
        # An exact diff would take too long: count the lines that only one side has, wherever they are.
        return {
            "added": (Counter(new) - Counter(old)).total(),
            "removed": (Counter(old) - Counter(new)).total(),
        }
    added = removed = 0
    for kind, a, b, c, d in SequenceMatcher(None, old, new, autojunk=True).get_opcodes():
        if kind != "equal":
            removed, added = removed + b - a, added + d - c
    return {"added": added, "removed": removed}


def _without_common(old: list[str], new: list[str]) -> tuple[list[str], list[str]]:
    """Return both without their common first and last lines: most edits are small, even in large files."""
    shortest = min(len(old), len(new))
    start = next((place for place in range(shortest) if old[place] != new[place]), shortest)
    rest = shortest - start
    end = next((place for place in range(rest) if old[-1 - place] != new[-1 - place]), rest)
    return old[start : len(old) - end], new[start : len(new) - end]
