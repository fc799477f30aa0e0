"""Docstrings, parsed."""

import pytest

from agenthost.core.docstrings import read_docstring


def test_the_first_paragraph_is_the_summary_on_one_line() -> None:
    assert read_docstring("Adds\n    two numbers.\n\n    Slowly.").summary == "Adds two numbers."


@pytest.mark.parametrize("text", [None, "", "   ", "Args:\n  a: one", ":param a: one"])
def test_without_a_paragraph_there_is_no_summary(text: str | None) -> None:
    assert read_docstring(text).summary == ""


def test_googles_style_is_read_with_types_continued_lines_and_sections_after_it() -> None:
    text = """Look up the weather.

    Args:
        city: where,
            in plain words: "Paris"
        days (int): how many

        *rest: more
    Returns:
        sky: blue
    """
    words = {"city": 'where, in plain words: "Paris"', "days": "how many", "rest": "more"}
    assert read_docstring(text).parameters == words


def test_sphinxs_style_is_read_with_types_and_continued_lines() -> None:
    text = """Look up the weather.

    :param city: where,
        in plain words
    :param int days: how many
    :returns: the sky
    """
    found = read_docstring(text)
    assert found.summary == "Look up the weather."
    assert found.parameters == {"city": "where, in plain words", "days": "how many"}
