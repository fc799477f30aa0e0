"""Markdown as it streams: however it is split, it looks as if it had arrived at once."""

from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agenthost.cli.chat.render.markdown import MarkdownStream, ThoughtStream
from agenthost.cli.chat.terminal.paint import Painter
from agenthost.cli.chat.terminal.text import clean, one_line
from agenthost.core.ansi import strip_escapes
from cli.chat.agents import DOCUMENT


def streamed(text: str, cuts: list[int], *, width: int = 60, rows: int = 10) -> list[str]:
    answer = MarkdownStream(Painter(lambda: width))
    ends = sorted({cut % (len(text) + 1) for cut in cuts} | {0, len(text)})
    lines = []
    for start, end in pairwise(ends):
        answer.feed(text[start:end])
        lines += answer.flush(rows)
        answer.preview()
    return lines + answer.finish()


def whole(text: str, width: int = 60) -> list[str]:
    return streamed(text, [], width=width, rows=10_000)


def shown(lines: list[str]) -> str:
    return "\n".join(map(strip_escapes, lines))


def test_every_kind_of_block_is_rendered() -> None:
    assert shown(whole(DOCUMENT, 40)) == (
        "A title\n"
        "\n"
        "Some emphasis, strong words and code, in\n"
        "a paragraph that is long enough to be\n"
        "wrapped.\n"
        "\n"
        " 1. first\n"
        " 2. second\n"
        "     • nested\n"
        "\n"
        "  def double(number: int) -> int:\n"
        "      return 2 * number  # no <b>tag</b>\n"
        "  is lost\n"
        "\n"
        " name    count\n"
        " ─────────────\n"
        " 日本語      1\n"
        " plain      22\n"
        "\n"
        "▌ quoted\n"
        "\n"
        "Done: 你好世界."
    )


@pytest.mark.parametrize(
    ("text", "rendered"),
    [
        ("two\nlines", "two\nlines"),
        ("use <stdin> & <b>this</b>", "use <stdin> & <b>this</b>"),
        (
            "<https://example.org> [here](https://example.org)",
            "https://example.org here (https://example.org)",
        ),
        ("a\x1b[31mb\x07\x9b2Jc\td", "a[31mb2Jc   d"),
        ("~~gone~~ *x", "gone *x"),
        ("", ""),
        ("  \n\n", ""),
        ("```\nnever closed", "  never closed"),
    ],
)
def test_details_are_rendered_as_they_were_meant(text: str, rendered: str) -> None:
    assert shown(whole(text)) == rendered


@settings(max_examples=30)
@given(st.lists(st.integers(0, 10_000), max_size=40))
def test_a_document_looks_the_same_however_it_is_split(cuts: list[int]) -> None:
    assert streamed(DOCUMENT, cuts) == whole(DOCUMENT)


def test_final_blocks_are_painted_early_and_the_rest_stays_small() -> None:
    answer = MarkdownStream(Painter(lambda: 60))
    code = "".join(f"line {number}\n" for number in range(300))
    lines = []
    for piece in ("Look:\n\n```text\n", *code.splitlines(keepends=True), "```\n\nThat was it."):
        answer.feed(piece)
        lines += answer.flush(10)
        assert len(answer.preview()) <= 12
    assert len(lines) > 280
    assert shown(lines + answer.finish()).split("\n") == [
        "Look:",
        "",
        *(f"  line {number}" for number in range(300)),
        "",
        "That was it.",
    ]


def test_a_long_paragraph_loses_no_word_and_stays_small() -> None:
    answer, lines = MarkdownStream(Painter(lambda: 40)), []
    words = [f"word{number}" for number in range(800)]
    for word in words:
        answer.feed(word + " ")
        lines += answer.flush(8)
        assert len(answer.preview()) <= 9
    lines += answer.finish()
    assert " ".join(shown(lines).split()) == " ".join(words)
    assert all(len(strip_escapes(line)) <= 40 for line in lines)
    short = [line for line in lines[:-1] if len(strip_escapes(line)) < 32]
    assert short == []  # split where it was wrapped anyway


def test_a_huge_block_is_split() -> None:
    answer = MarkdownStream(Painter(lambda: 60))
    answer.feed("> quote " * 5_000)
    assert answer.flush(10)
    assert len(answer.preview()) < 100


def test_a_thought_is_painted_line_by_line() -> None:
    thought = ThoughtStream(Painter(lambda: 30))
    thought.feed("first line\nsecond")
    assert shown(thought.flush(5)) == "  first line"
    assert shown(thought.preview()) == "  second"
    thought.feed(" goes on " * 40)
    assert thought.flush(5)
    thought.feed("at the end")
    assert shown(thought.finish()) == "  at the end"
    assert thought.finish() == []


def test_lines_fit_the_width_and_reset_their_style() -> None:
    painter = Painter(lambda: 20, has_colours=True)
    assert painter.text("red words that are wrapped", "red") == [
        "\x1b[31mred words that are\x1b[0m",
        "\x1b[31mwrapped\x1b[0m",
    ]
    assert Painter(lambda: 20, has_colours=False).text("red", "bold red") == ["\x1b[1mred\x1b[0m"]
    assert Painter(lambda: 20, has_styles=False).text("red", "bold red") == ["red"]
    assert painter.marked(">", "a\nb") == ["> a", "  b"]
    assert (clean("a\r\nb\rc"), one_line("a\n b", 3), one_line("abcdef", 3)) == ("a\nb\nc", "a b", "ab…")
