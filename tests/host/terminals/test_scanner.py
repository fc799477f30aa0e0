"""What is read of the output of a program, wherever it is cut."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agenthost.host.terminals.scanner import (
    MAX_SEQUENCE,
    Event,
    Finished,
    Folder,
    Ready,
    Scanner,
    Started,
    Title,
)

PIECES = st.sampled_from(
    [
        "plain",
        "grüße 🦊",
        "\r\n",
        "\x1b[31m",
        "\x1b",
        "\x1b]",
        "\x1b]0;a title\x07",
        "\x1b]2;b\x1b\\",
        "\x1b]7;file:///tmp\x07",
        "\x1b]633;A;n\x07",
        "\x1b]633;E;echo a\\x3bb;n\x07",
        "\x1b]633;D;3;n\x07",
        "\x1b]633;D;3;forged\x07",
        "\x1b]133;C\x07",
        "\x1b]8;;http://x\x07",
        "\x07",
    ]
)


def joined(events: list[Event]) -> list[Event]:
    """Return events with text that goes on as one."""
    found: list[Event] = []
    for event in events:
        if isinstance(event, str) and found and isinstance(found[-1], str):
            found[-1] += event
        else:
            found.append(event)
    return found


def scanned(*chunks: bytes, nonce: str | None = "n") -> list[Event]:
    scanner = Scanner(nonce)
    events = [event for chunk in chunks for event in scanner.feed(chunk)]
    return joined([*events, *scanner.feed(b"", is_last=True)])


@given(st.lists(PIECES, max_size=20), st.data())
def test_it_does_not_matter_where_output_is_split(pieces: list[str], data: st.DataObject) -> None:
    output = "".join(pieces).encode()
    places = data.draw(st.lists(st.integers(0, len(output)), max_size=10).map(sorted))
    chunks = [output[begin:end] for begin, end in pairwise([0, *places, len(output)])]
    assert scanned(*chunks) == scanned(output)


@pytest.mark.parametrize(
    ("output", "events"),
    [
        ("\x1b]0;one\x07", ["\x1b]0;one\x07", Title("one")]),
        ("\x1b]2;a\tb\x1b\\", ["\x1b]2;a\tb\x1b\\", Title("a b")]),
        ("\x1b]1337;File=name:abc\x07", ["\x1b]1337;File=name:abc\x07"]),
        ("\x1b]633;P;Cwd=/a\\x3bb\\\\c;n\x07", [Folder("/a;b\\c")]),
        ("a\x1b]633;A;n\x07b", ["a", Ready(), "b"]),
        ("\x1b]633;E;x\\x0ay\\\\x41;n\x07", [Started("x\ny\\x41")]),
        ("\x1b]633;D;130;n\x07", [Finished(130)]),
        ("\x1b]633;D;;n\x07", [Finished(None)]),
        ("a\x1b]133;A\x1b\\b", ["ab"]),
        ("a\x1b]633;Q;what;n\x07b", ["ab"]),
    ],
)
def test_sequences_become_events(output: str, events: list[Event]) -> None:
    assert scanned(output.encode()) == events


@pytest.mark.parametrize(
    "mark", ["A", "A;m", "E;rm -rf /;m", "E;rm -rf /;", "D;0", "D;0;m", "E;n", "D", "P;Cwd=/a", "P;Cwd=/a;m"]
)
def test_a_mark_without_the_nonce_is_removed_and_ignored(mark: str) -> None:
    assert scanned(f"a\x1b]633;{mark}\x07b".encode()) == ["ab"]


def test_without_a_nonce_all_marks_are_ignored() -> None:
    assert scanned(b"\x1b]633;E;x;None\x07\x1b]633;E;x;\x07\x1b]633;P;Cwd=/a\x07", nonce=None) == []


@pytest.mark.parametrize(
    ("output", "events"),
    [
        ("\x1b]7;file:///a%20b\x07", ["\x1b]7;file:///a%20b\x07", Folder("/a b")]),
        ("\x1b]7;file://elsewhere.test/a\x07", ["\x1b]7;file://elsewhere.test/a\x07"]),
        ("\x1b]7;http:///a\x07", ["\x1b]7;http:///a\x07"]),
        ("\x1b]7;file://[/\x07", ["\x1b]7;file://[/\x07"]),
        ("\x1b]1337;CurrentDir=/a\x07x", [Folder("/a"), "x"]),
        ("\x1b]1337;CurrentDir=a\x07x", ["x"]),
    ],
)
def test_a_folder_without_a_nonce_counts_only_if_the_shell_prints_no_marks(
    output: str, events: list[Event]
) -> None:
    assert scanned(output.encode(), nonce=None) == events
    believed = scanned(output.encode(), nonce="n")
    assert believed == [event for event in events if not isinstance(event, Folder)]


def test_a_sequence_that_does_not_end_becomes_text() -> None:
    scanner = Scanner()
    assert scanner.feed(b"\x1b]0;" + b"x" * 100) == []
    long = scanner.feed(b"x" * MAX_SEQUENCE)
    assert [len(event) for event in long if isinstance(event, str)] == [MAX_SEQUENCE + 104]
    assert scanner.feed(b"more") == ["more"]


def test_invalid_utf_8_becomes_replacement_characters() -> None:
    assert scanned(b"a\xff\xc3", b"\xbcb\xe2\x82") == ["a\ufffdüb\ufffd"]
