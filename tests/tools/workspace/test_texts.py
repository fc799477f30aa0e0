"""Exact replacements in texts, and what is text at all."""

import re

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from agenthost import ToolError
from agenthost.tools.workspace.texts import (
    BOM,
    content_version,
    decode_text,
    encode_text,
    match_style,
    replace,
    uses_crlf,
)
from bounding import run_bounded

LINES = st.text(st.sampled_from("ab \t\n"), max_size=40)
WORDS = st.text(st.sampled_from("ab \n"), min_size=1, max_size=4)

BYTES = st.binary(max_size=30).map(lambda data: data.replace(b"\0", b"").replace(b"@", b""))


def count(text: str, old: str) -> int:
    return len(re.findall(f"(?={re.escape(old)})", text))


@given(text=LINES, old=WORDS, new=LINES)
def test_what_occurs_once_is_replaced_and_all_else_stays(text: str, old: str, new: str) -> None:
    assume(old != new)
    if count(text, old) == 1:
        assert replace(text, old, new) == text.replace(old, new)
    else:
        with pytest.raises(ToolError):
            replace(text, old, new)


@given(pieces=st.lists(LINES, min_size=2, max_size=4), old=WORDS, new=LINES)
def test_all_that_occurs_is_replaced_if_that_is_wanted(pieces: list[str], old: str, new: str) -> None:
    assume(old != new)
    text = old.join(pieces)
    assert replace(text, old, new, every=True) == text.replace(old, new)


@given(before=LINES, inside=LINES, after=LINES, new=LINES)
def test_crlf_line_ends_are_kept(before: str, inside: str, after: str, new: str) -> None:
    text, old = f"{before}<{inside}>{after}\n", f"<{inside}>"
    windows = text.replace("\n", "\r\n")
    assert replace(windows, old, new) == replace(text, old, new).replace("\n", "\r\n")


@given(before=BYTES, after=BYTES)
def test_not_one_byte_changes_around_an_edit(before: bytes, after: bytes) -> None:
    text = decode_text(before + b"@@" + after)
    assert text is not None
    assert encode_text(replace(text, "@@", "new")) == before + b"new" + after


@given(st.binary(max_size=60))
def test_text_is_what_has_no_null_byte_and_its_bytes_come_back(data: bytes) -> None:
    text = decode_text(data)
    assert (text is None) == (b"\0" in data)
    assert text is None or encode_text(text) == data


@given(st.binary(max_size=20), st.binary(max_size=20))
def test_versions_tell_bytes_apart(one: bytes, other: bytes) -> None:
    assert (content_version(one) == content_version(other)) == (one == other)


@pytest.mark.parametrize(
    ("text", "old", "sentence"),
    [
        (
            "a\nb\na\n",
            "a",
            "`old` occurs 2 times, in lines 1, 3; add lines around it so that it occurs once, or set",
        ),
        ("aaa", "aa", "`old` occurs 2 times, in lines 1, 1;"),
        ("x\n" * 12, "x", "`old` occurs 12 times, in lines 1, 2, 3, 4, 5, 6, 7, 8, 9, 10 and others;"),
        ("if a:\n    b\n", "if a:\n  b", "line 1 has it with other spaces or line ends"),
        ("one\ntwo\n", "1\tone\n2\ttwo", "leave out the line numbers"),
        ("def spam():\n    pass\n", "def span():", "the nearest is line 1: def spam():"),
        ("nothing", "like it", "`old` does not occur in the file; read it again"),
        ("a", "", "`old` is empty"),
        ("a", "b", "`old` does not occur"),
    ],
)
def test_what_cannot_be_replaced_is_explained(text: str, old: str, sentence: str) -> None:
    with pytest.raises(ToolError, match=re.escape(sentence)):
        replace(text, old, "new")


def test_a_replacement_by_the_same_is_refused() -> None:
    with pytest.raises(ToolError, match="the same"):
        replace("a", "a", "a")


@pytest.mark.parametrize(
    ("text", "old", "new", "after"),
    [
        ("a\r\nb\nc\r\n", "a\nb", "x\ny", "x\r\ny\nc\r\n"),
        ("a\r\nb\r\n", "b", "x\ny", "a\r\nx\r\ny\r\n"),
        ("a\nb\r\n\n", "a", "x\ny", "x\ny\nb\r\n\n"),
        ("a\r\nb", "a\r\nb", "c", "c"),
        ("a\r\nb\r\n", "b", "x\r\ny\n", "a\r\nx\r\ny\n\r\n"),
        (f"{BOM}a\n", "a", "b", f"{BOM}b\n"),
        ("a\nb", "b", "c", "a\nc"),
        ("tab\there", "\t", r"\1 \g<0>", r"tab\1 \g<0>here"),
    ],
)
def test_line_ends_are_those_of_the_place(text: str, old: str, new: str, after: str) -> None:
    assert replace(text, old, new) == after


@pytest.mark.parametrize(
    ("before", "text", "after"),
    [
        ("a\r\nb\r\n", "x\ny\n", "x\r\ny\r\n"),
        ("a\nb\n", "x\r\n", "x\r\n"),
        ("a\r\nb\r\n", "x\r\ny\n", "x\r\ny\n"),
        (f"{BOM}a", "b", f"{BOM}b"),
        (f"{BOM}a", f"{BOM}b", f"{BOM}b"),
        ("", "b\n", "b\n"),
    ],
)
def test_a_whole_new_text_is_written_as_the_old_one_was(before: str, text: str, after: str) -> None:
    assert match_style(before, text) == after


def test_half_a_character_cannot_be_written() -> None:
    with pytest.raises(ToolError, match="half of a character"):
        encode_text("\ud83d")


MIXED = st.lists(st.sampled_from(["a", "b", " ", "\n", "\r\n", "\r"]), max_size=30).map("".join)


def by_expression(text: str, old: str, new: str) -> str:
    """Replace everywhere, one line end or the other."""
    pattern = re.escape(old) if "\r" in old else r"\r?\n".join(map(re.escape, old.split("\n")))
    is_crlf = uses_crlf(text)

    def ended(match: re.Match[str]) -> str:
        if "\r" in new or "\n" not in new:
            return new
        ends = uses_crlf(match[0]) if "\n" in match[0] else is_crlf
        return new.replace("\n", "\r\n") if ends else new

    return re.sub(pattern, ended, text)


@given(text=MIXED, old=MIXED, new=MIXED)
def test_line_ends_of_all_kinds_are_replaced_as_an_expression_would(text: str, old: str, new: str) -> None:
    assume(old)
    assume(old != new)
    expected = by_expression(text, old, new)
    try:
        assert replace(text, old, new, every=True) == expected
    except ToolError:
        assert expected == text


def test_a_line_end_at_the_beginning_is_found_once() -> None:
    assert replace("a\r\nb\r\n", "\nb", "\nc") == "a\r\nc\r\n"


@pytest.mark.parametrize(
    ("text", "old"),
    [
        ("'a' * 4_000_000", "'a' * 40_000 + 'b'"),
        ("'a' * 4_000_000", "'b' + 'a' * 40_000"),
        ("'a' * 4_000_000", "'a' * 40_000"),
        ("'a ' * 2_000_000", "'a\\n' * 20_000 + 'b'"),
        ("'a\\r\\n' * 1_000_000", "'a\\n' * 20_000 + 'b'"),
        ("'\\n'.join(f'{n:0160b}' for n in range(2**80, 2**80 + 20_000))", "f'{2**79:0160b}c'"),
    ],
)
def test_no_text_takes_long_to_search(text: str, old: str) -> None:
    code = (
        "from agenthost import ToolError; from agenthost.tools.workspace.texts import replace\n"
        f"try: replace({text}, {old}, 'x')\nexcept ToolError as error: print(str(error)[:12])"
    )
    assert run_bounded(code) in ("`old` does n", "`old` occurs")


def test_a_replacement_that_would_fill_the_memory_is_refused() -> None:
    with pytest.raises(ToolError, match="longer than 4194304 characters"):
        replace("a" * 4_000_000, "a", "b" * 4_000_000, every=True)
