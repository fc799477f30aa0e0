"""Which text is most similar, and which texts would take too long to compare."""

from difflib import SequenceMatcher

from hypothesis import given
from hypothesis import strategies as st

from agenthost.core.text_similarity import find_most_similar, is_quick_to_diff
from bounding import run_bounded

TEXTS = st.text(st.sampled_from("abcd "), max_size=12)


@given(wanted=TEXTS, candidates=st.lists(TEXTS, max_size=8))
def test_the_result_is_the_text_that_difflib_finds_most_similar(wanted: str, candidates: list[str]) -> None:
    ratios = [SequenceMatcher(None, one, wanted, autojunk=False).ratio() for one in candidates]
    best = max((ratio for ratio in ratios if ratio > 0.6), default=None)
    found = find_most_similar(wanted, candidates)
    assert (None if found is None else ratios[found]) == best


def test_a_similar_text_is_found_among_many_in_bounded_time() -> None:
    code = (
        "import random; from agenthost.core.text_similarity import find_most_similar; random.seed(1); "
        "lines = [''.join(random.choices('ab', k=255)) for _ in range(5_000)]; "
        "print(find_most_similar(lines[700] + 'c', lines) is not None)"
    )
    assert run_bounded(code) == "True"


def test_ordinary_changes_are_compared_and_endless_ones_are_not() -> None:
    lines = [f"line {number % 900}" for number in range(1_800)]
    assert is_quick_to_diff(lines, lines[::-1])
    assert not is_quick_to_diff(["a"] * 1_000, ["a"] * 1_000)
    assert not is_quick_to_diff(lines * 10, lines * 10)
