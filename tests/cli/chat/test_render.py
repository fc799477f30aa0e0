"""Calls, edits and sessions in words."""

from typing import Any

import pytest

from agenthost.cli.chat.render.calls import (
    describe_content,
    format_input,
    headline,
    input_line,
    outcome,
    text_lines,
)
from agenthost.cli.chat.render.diffs import edit_lines
from agenthost.cli.chat.render.wording import describe_usage, session_id
from agenthost.cli.chat.terminal.paint import Painter
from agenthost.core.ansi import strip_escapes


def call(**over: Any) -> Any:
    return {"toolCallId": "1", "displayName": "Add", "toolInput": '{"a":1,"b":"two"}', **over}


def test_a_call_is_described_in_one_line() -> None:
    assert headline(call()) == "Add a: 1, b: two"
    assert input_line(call(toolInput="not json")) == "not json"
    assert input_line({"displayName": "Add", "partialInput": '{"a'}) == '{"a'
    assert (
        outcome(call(status="completed", success=True, pastTenseMessage="Ran Add")) == "Ran Add a: 1, b: two"
    )
    assert outcome(call(status="completed", success=True, pastTenseMessage="Wrote it")) == "Wrote it"
    failed = call(
        status="completed", success=False, pastTenseMessage="Add failed", error={"message": "no\nroom"}
    )
    assert outcome(failed) == "Add failed: no room"
    denied = call(status="cancelled", reason="denied", reasonMessage={"markdown": "not today"})
    assert outcome(denied) == "Add a: 1, b: two: denied: not today"
    assert outcome(call(status="cancelled", reason="skipped")) == "Add a: 1, b: two: not run"


def test_long_inputs_are_formatted_and_content_is_described() -> None:
    text = "first\nsecond " + "x" * 100
    assert format_input(call(toolInput=f'{{"path": "a", "text": "{text}"}}'.replace("\n", "\\n"))) == (
        f"path: a\ntext:\n{text}"
    )
    assert format_input(call()) == '{"a":1,"b":"two"}'
    assert text_lines(
        call(content=[{"type": "text", "text": "a\n\x1b[1mb\n"}, {"type": "text", "text": " "}])
    ) == [
        "a",
        "[1mb",
    ]
    assert describe_content({"contentType": "image/png", "data": "a" * 4_000}) == "image/png, 3 kB"
    assert describe_content({"uri": "x:/1", "sizeHint": 5}) == "content, 5 bytes: x:/1"


@pytest.mark.parametrize(
    ("given", "shown"),
    [
        ('{"command": "ls -l"}', "$ ls -l"),
        ('{"command": "ls -l", "seconds": 5}', "$ ls -l\nseconds: 5"),
        ('{"cmd": ["bash", "-lc", "cd a && ls"], "cwd": "/tmp"}', "$ cd a && ls\ncwd: /tmp"),
        ('{"command": ["echo", "two words"]}', "$ echo 'two words'"),
        ('{"command": "a\\u001b[1mb"}', "$ a[1mb"),
        ('{"command": ""}', '{"command": ""}'),
        ('{"command": 1}', '{"command": 1}'),
    ],
)
def test_a_shell_command_is_shown_as_one(given: str, shown: str) -> None:
    assert format_input(call(toolInput=given)) == shown


def test_a_shell_command_fits_in_one_line_too() -> None:
    assert headline(call(displayName="Run", toolInput='{"command": "make\\ntest"}')) == "Run $ make test"


def version(path: str) -> Any:
    return {"uri": f"file://{path}", "content": {"uri": "x:/1"}}


@pytest.mark.parametrize(
    ("edit", "title"),
    [
        ({"after": version("/a/b%20c.txt"), "diff": {"added": 1, "removed": 0}}, "new b c.txt +1 -0"),
        ({"before": version("/a/b.txt")}, "removed b.txt"),
        ({"before": version("/a/b.txt"), "after": version("/a/c.txt")}, "b.txt → c.txt"),
        ({"before": version("/a/b.txt"), "after": version("/a/b.txt"), "diff": {}}, "b.txt"),
    ],
)
def test_an_edit_names_the_file_and_what_became_of_it(edit: Any, title: str) -> None:
    painter = Painter(lambda: 40, has_styles=False)
    assert edit_lines(painter, edit, None) == [f"  {title}"]


def test_an_edit_is_shown_as_a_coloured_diff_that_is_cut_when_it_is_long() -> None:
    edit = {"before": version("/b"), "after": version("/b")}
    painter = Painter(lambda: 40)
    lines = edit_lines(painter, edit, ("same\nold\n", "same\nnew\n"))
    assert [strip_escapes(line) for line in lines] == [
        "  b",
        "    @@ -1,2 +1,2 @@",
        "     same",
        "    -old",
        "    +new",
    ]
    assert "\x1b[31m-old" in lines[3]
    assert "\x1b[32m+new" in lines[4]
    long = edit_lines(painter, edit, ("", "".join(f"{number}\n" for number in range(100))), max_lines=10)
    assert strip_escapes(long[-1]) == "    … 91 more lines"


def test_ids_and_usage_are_described() -> None:
    assert (session_id("demo:/abc"), session_id("odd")) == ("abc", "odd")
    assert (
        describe_usage({"inputTokens": 1234, "outputTokens": 5, "model": "m"}) == "1,234 in, 5 out tokens · m"
    )
    assert (describe_usage({"model": "m"}), describe_usage(None), describe_usage({})) == ("m", "", "")
