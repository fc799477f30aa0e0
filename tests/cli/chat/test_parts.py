"""The pure parts of the chat: calls in words, keys for options, answers as typed, attachments."""

import stat
from pathlib import Path
from typing import Any

import pytest

from agenthost.cli.chat.asking import read_answer
from agenthost.cli.chat.attaching import Attachments, attach_file
from agenthost.cli.chat.calls import headline, input_of, outcome, pretty_input, sized, texts_of
from agenthost.cli.chat.deciding import Options
from agenthost.cli.chat.diffs import edit_lines
from agenthost.cli.chat.history import FileHistory
from agenthost.cli.chat.opening import Wish
from agenthost.cli.chat.painting import Painter, plain
from agenthost.cli.chat.wording import id_of, used

COLOURS = [{"id": "r", "label": "Red"}, {"id": "g", "label": "Green"}, {"id": "gr", "label": "Grey"}]


def call(**over: Any) -> Any:
    return {"toolCallId": "1", "displayName": "Add", "toolInput": '{"a":1,"b":"two"}', **over}


def answered(kind: str, typed: str, **more: Any) -> Any:
    question = {"id": "q", "kind": kind, "message": "?", **more}
    return read_answer({"id": "1", "questions": [question]}, question, typed)


@pytest.mark.parametrize(
    ("kind", "typed", "more", "value"),
    [
        ("text", " Ann ", {}, "Ann"),
        ("text", "", {}, None),
        ("number", "2.5", {}, 2.5),
        ("integer", "3", {"min": 1}, 3),
        ("boolean", "Yes", {}, True),
        ("boolean", "n", {}, False),
        ("single-select", "2", {"options": COLOURS}, "g"),
        ("single-select", "red", {"options": COLOURS}, "r"),
        ("single-select", "gre", {"options": COLOURS[:2]}, "g"),
        ("single-select", "pink", {"options": COLOURS, "allowFreeformInput": True}, "pink"),
        ("multi-select", "1 3", {"options": COLOURS}, ["r", "gr"]),
        ("multi-select", "Red, 2, red", {"options": COLOURS}, ["r", "g"]),
        ("unheard-of", "x", {}, "x"),
    ],
)
def test_what_is_typed_becomes_an_answer_of_its_kind(kind: str, typed: str, more: Any, value: Any) -> None:
    if kind == "unheard-of":
        with pytest.raises(ValueError, match="does not answer"):
            answered(kind, typed)
    else:
        assert answered(kind, typed, **more) == value


@pytest.mark.parametrize(
    ("kind", "typed", "more", "sentence"),
    [
        ("text", "", {"required": True}, "this one has to be answered"),
        ("text", "abc", {"max": 2}, "at most 2 characters long"),
        ("number", "many", {}, "that takes a number, not 'many'"),
        ("number", "nan", {}, "that takes a number"),
        ("integer", "1.5", {}, "takes a whole number"),
        ("integer", "0", {"min": 1}, "must be at least 1"),
        ("boolean", "maybe", {}, "that takes y or n, not 'maybe'"),
        ("single-select", "4", {"options": COLOURS}, "a number from 1 to 3, or a name, not '4'"),
        ("single-select", "gr", {"options": COLOURS[1:2] * 2}, "or a name, not 'gr'"),
        ("multi-select", "1,2", {"options": COLOURS, "max": 1}, "at most 1 choices"),
    ],
)
def test_what_does_not_fit_is_refused_with_what_would(
    kind: str, typed: str, more: Any, sentence: str
) -> None:
    with pytest.raises(ValueError, match=sentence):
        answered(kind, typed, **more)


def test_calls_are_told_in_a_line() -> None:
    assert headline(call()) == "Add a: 1, b: two"
    assert input_of(call(toolInput="not json")) == "not json"
    assert input_of({"displayName": "Add", "partialInput": '{"a'}) == '{"a'
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


def test_long_inputs_are_laid_out_and_contents_are_named() -> None:
    text = "first\nsecond " + "x" * 100
    assert pretty_input(call(toolInput=f'{{"path": "a", "text": "{text}"}}'.replace("\n", "\\n"))) == (
        f"path: a\ntext:\n{text}"
    )
    assert pretty_input(call()) == '{"a":1,"b":"two"}'
    assert texts_of(
        call(content=[{"type": "text", "text": "a\n\x1b[1mb\n"}, {"type": "text", "text": " "}])
    ) == [
        "a",
        "[1mb",
    ]
    assert sized({"contentType": "image/png", "data": "a" * 4_000}) == "image/png, 3 kB"
    assert sized({"uri": "x:/1", "sizeHint": 5}) == "content, 5 bytes: x:/1"


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
def test_a_command_is_shown_as_one(given: str, shown: str) -> None:
    assert pretty_input(call(toolInput=given)) == shown


def test_a_command_is_told_in_a_line_too() -> None:
    assert headline(call(displayName="Run", toolInput='{"command": "make\\ntest"}')) == "Run $ make test"


def test_the_options_of_a_host_get_keys_that_people_guess() -> None:
    offered = [
        {"id": "once", "label": "Once", "kind": "approve"},
        {"id": "for-session", "label": "Always here", "kind": "approve"},
        {"id": "ever", "label": "For ever", "kind": "approve"},
        {"id": "no", "label": "No", "kind": "deny"},
        {"id": "never", "label": "Never", "kind": "deny"},
    ]
    options = Options.of(call(options=offered, editable=True), 2)
    assert [(key.key, key.label) for key in options.keys] == [
        ("y", "Once"),
        ("s", "Always here"),
        ("3", "For ever"),
        ("n", "No"),
        ("5", "Never"),
        ("e", "Edit the input"),
        ("a", "Allow all 2"),
    ]
    assert [options.by_key[key]["id"] for key in "ys3n5"] == ["once", "for-session", "ever", "no", "never"]
    assert [key.key for key in Options.of(call()).keys] == ["y", "n"]
    assert [key.key for key in Options.of(call(options=offered[:1])).keys] == ["y", "n"]


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
def test_an_edit_says_what_became_of_which_file(edit: Any, title: str) -> None:
    painter = Painter(lambda: 40, has_styles=False)
    assert edit_lines(painter, edit, None) == [f"  {title}"]


def test_an_edit_is_shown_as_a_diff_in_colours_and_cut_when_it_is_long() -> None:
    edit = {"before": version("/b"), "after": version("/b")}
    painter = Painter(lambda: 40)
    lines = edit_lines(painter, edit, ("same\nold\n", "same\nnew\n"))
    assert [plain(line) for line in lines] == [
        "  b",
        "    @@ -1,2 +1,2 @@",
        "     same",
        "    -old",
        "    +new",
    ]
    assert "\x1b[31m-old" in lines[3]
    assert "\x1b[32m+new" in lines[4]
    long = edit_lines(painter, edit, ("", "".join(f"{number}\n" for number in range(100))), most=10)
    assert plain(long[-1]) == "    … 91 more lines"


@pytest.mark.parametrize(
    ("wish", "sentence"),
    [
        (Wish(session="a", is_continuing=True), "--continue"),
        (Wish(session="a", agent="b"), "--agent: a session that is there keeps what it has"),
        (Wish(is_continuing=True, model="b"), "--model"),
        (Wish(options=["x"]), "--option: expected NAME=VALUE, found 'x'"),
    ],
)
def test_wishes_that_make_no_sense_are_refused(wish: Wish, sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        wish.check()


def test_words_for_names_and_costs() -> None:
    assert (id_of("demo:/abc"), id_of("odd")) == ("abc", "odd")
    assert used({"inputTokens": 1234, "outputTokens": 5, "model": "m"}) == "1,234 in, 5 out tokens · m"
    assert (used({"model": "m"}), used(None), used({})) == ("m", "", "")


def test_files_are_attached_with_what_they_are(tmp_path: Path) -> None:
    (tmp_path / "a.png").write_bytes(b"\x89PNG")
    (tmp_path / "words").write_text("some words")
    (tmp_path / "bytes").write_bytes(b"\xff\x00")
    kinds = [attach_file(str(tmp_path / name))["contentType"] for name in ("a.png", "words", "bytes")]
    assert kinds == ["image/png", "text/plain", "application/octet-stream"]
    with pytest.raises(ValueError, match="there is no file"):
        attach_file(str(tmp_path / "missing"))
    with pytest.raises(ValueError, match="there is no file"):
        attach_file(str(tmp_path))


def test_what_a_message_names_of_the_proposals_goes_with_it() -> None:
    offered: Any = {
        "@a.txt": {"type": "resource", "uri": "x:/a", "label": "a.txt"},
        "/help": {"type": "simple"},
    }
    attachments = Attachments()
    attachments.files.append({"label": "mine"})
    taken = attachments.take("/help me\nwith @a.txt please", offered)
    assert taken[0] == {"label": "mine"}
    assert taken[1]["range"] == {"start": {"line": 1, "character": 5}, "end": {"line": 1, "character": 11}}
    assert attachments.take("nothing of @a.txt.bak", offered) == []


def test_what_was_typed_is_kept_for_its_owner_alone_and_not_for_ever(tmp_path: Path) -> None:
    path = tmp_path / "state" / "history"
    history = FileHistory(path)
    for text in ("one", "two\nlines", "two\nlines", "three\u2028"):
        history.store_string(text)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert list(FileHistory(path).load_history_strings()) == ["three\u2028", "two\nlines", "one"]
    path.write_text('{"of": "the future"}\n"cut\n' + '"x"\n' * 2_001)
    assert len(list(FileHistory(path).load_history_strings())) == 1_000
    assert len(path.read_text().splitlines()) == 1_000
    path.unlink()
    path.mkdir()
    FileHistory(path).store_string("nobody can keep this")
    assert list(FileHistory(path).load_history_strings()) == []
