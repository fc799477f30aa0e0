"""What the user types and presses: answers, keys for approvals, options, attachments, the history."""

import stat
from pathlib import Path
from typing import Any

import pytest

from agenthost.cli.chat.approval_keys import ApprovalKeys
from agenthost.cli.chat.attachments import Attachments, read_attachment
from agenthost.cli.chat.options import ChatOptions
from agenthost.cli.chat.questions import read_answer
from agenthost.cli.chat.terminal.history import FileHistory

COLOURS = [{"id": "r", "label": "Red"}, {"id": "g", "label": "Green"}, {"id": "gr", "label": "Grey"}]


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
def test_typed_text_becomes_an_answer_of_the_right_kind(kind: str, typed: str, more: Any, value: Any) -> None:
    if kind == "unheard-of":
        with pytest.raises(ValueError, match="is not an answer"):
            answered(kind, typed)
    else:
        assert answered(kind, typed, **more) == value


@pytest.mark.parametrize(
    ("kind", "typed", "more", "sentence"),
    [
        ("text", "", {"required": True}, "an answer is required"),
        ("text", "abc", {"max": 2}, "at most 2 characters long"),
        ("number", "many", {}, "expected a number, found 'many'"),
        ("number", "nan", {}, "expected a number"),
        ("integer", "1.5", {}, "takes a whole number"),
        ("integer", "0", {"min": 1}, "must be at least 1"),
        ("boolean", "maybe", {}, "expected y or n, found 'maybe'"),
        ("single-select", "4", {"options": COLOURS}, "a number from 1 to 3, or a name, found '4'"),
        ("single-select", "gr", {"options": COLOURS[1:2] * 2}, "or a name, found 'gr'"),
        ("multi-select", "1,2", {"options": COLOURS, "max": 1}, "at most 1 choices"),
    ],
)
def test_an_invalid_answer_is_refused_with_what_is_expected(
    kind: str, typed: str, more: Any, sentence: str
) -> None:
    with pytest.raises(ValueError, match=sentence):
        answered(kind, typed, **more)


def test_the_hosts_options_get_keys_that_are_easy_to_guess() -> None:
    offered = [
        {"id": "once", "label": "Once", "kind": "approve"},
        {"id": "for-session", "label": "Always here", "kind": "approve"},
        {"id": "ever", "label": "For ever", "kind": "approve"},
        {"id": "no", "label": "No", "kind": "deny"},
        {"id": "never", "label": "Never", "kind": "deny"},
    ]
    keys = ApprovalKeys.for_call({"options": offered, "editable": True}, 2)
    assert [(choice.key, choice.label) for choice in keys.choices] == [
        ("y", "Once"),
        ("s", "Always here"),
        ("3", "For ever"),
        ("n", "No"),
        ("5", "Never"),
        ("e", "Edit the input"),
        ("a", "Allow all 2"),
    ]
    assert [keys.options[key]["id"] for key in "ys3n5"] == ["once", "for-session", "ever", "no", "never"]
    assert [choice.key for choice in ApprovalKeys.for_call({}).choices] == ["y", "n"]
    assert [choice.key for choice in ApprovalKeys.for_call({"options": offered[:1]}).choices] == ["y", "n"]


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (ChatOptions(session="a", continue_newest=True), "--continue and --session"),
        (ChatOptions(session="a", agent="b"), "--agent is only for new sessions"),
        (ChatOptions(continue_newest=True, model="b"), "--model"),
        (ChatOptions(options=["x"]), "--option: expected NAME=VALUE, found 'x'"),
    ],
)
def test_options_that_do_not_go_together_are_refused(options: ChatOptions, sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        options.check()


def test_a_file_is_attached_with_its_content_type(tmp_path: Path) -> None:
    (tmp_path / "a.png").write_bytes(b"\x89PNG")
    (tmp_path / "words").write_text("some words")
    (tmp_path / "bytes").write_bytes(b"\xff\x00")
    kinds = [read_attachment(str(tmp_path / name))["contentType"] for name in ("a.png", "words", "bytes")]
    assert kinds == ["image/png", "text/plain", "application/octet-stream"]
    with pytest.raises(ValueError, match="there is no file"):
        read_attachment(str(tmp_path / "missing"))
    with pytest.raises(ValueError, match="there is no file"):
        read_attachment(str(tmp_path))


def test_offered_attachments_that_a_message_names_are_sent_with_it() -> None:
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


def test_the_history_is_private_and_bounded(tmp_path: Path) -> None:
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
    FileHistory(path).store_string("this cannot be kept")
    assert list(FileHistory(path).load_history_strings()) == []
