"""How many lines a change adds and removes."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agenthost.core.line_counts import count_lines


@pytest.mark.parametrize(
    ("before", "after", "added", "removed"),
    [
        (None, "a\nb\n", 2, 0),
        ("a\nb\n", None, 0, 2),
        (None, None, 0, 0),
        ("a\nb\nc\n", "a\nB\nc\n", 1, 1),
        ("a\nc\n", "a\nb\nc\n", 1, 0),
        ("a\na\n", "a\n", 0, 1),
        ("a\nb\nc\nd\n", "b\nX\nd\n", 1, 2),
    ],
)
def test_lines_are_counted_where_they_differ(
    before: str | None, after: str | None, added: int, removed: int
) -> None:
    assert count_lines(before, after) == {"added": added, "removed": removed}


def test_two_large_texts_without_order_are_counted_by_their_lines_alone() -> None:
    old = [f"line {number}" for number in range(20_000)]
    new = [*reversed(old), "one more"]
    assert count_lines("\n".join(old), "\n".join(new)) == {"added": 1, "removed": 0}


lines = st.lists(st.sampled_from(["a", "b", "c"]), max_size=8)


@given(old=lines, new=lines)
def test_what_is_added_and_removed_makes_up_the_difference(old: list[str], new: list[str]) -> None:
    counts = count_lines("\n".join(old), "\n".join(new))
    assert counts["added"] - counts["removed"] == len(new) - len(old)
    assert (counts == {"added": 0, "removed": 0}) == (old == new)
