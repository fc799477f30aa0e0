"""The files that the demo agent reads and writes: shown as changes, edited, and held in the workspace."""

from pathlib import Path
from typing import Any

import pytest

from agenthost.agents.demo import demo
from agenthost.agents.demo.tools import MAX_FILE_BYTES
from agenthost.wire.json import encode_json
from hosting import run
from talking import Talk, said, talking

TRUSTED = dict.fromkeys(demo.toolset, True)


def called(folder: Path, name: str, **arguments: Any) -> str:
    """Return the answer to a call of one tool, in a session that trusts all of them."""
    return said(folder, demo, f"/call {name} {encode_json(arguments).decode()}", tools=TRUSTED).text


def test_who_allows_write_file_may_change_its_input(tmp_path: Path) -> None:
    async def story() -> None:
        async with talking(tmp_path, demo) as host:
            talk = await Talk.begin(host)
            await talk.send("/edit a.txt hello")
            ready = await talk.hear_one("toolCallReady")
            assert ready["editable"] is True
            assert await talk.approve(ready, edited={"path": "b.txt", "text": "bye"}) is None
            heard = await talk.finish()
            assert heard.text.startswith("The user changed the input to ")
            assert heard.text.endswith("Wrote 3 characters to b.txt.")
            assert not (host.workspace / "a.txt").exists()
            assert (host.workspace / "b.txt").read_text() == "bye"

    run(story)


def test_who_is_asked_about_an_edit_sees_what_it_would_change(tmp_path: Path) -> None:
    async def story() -> None:
        async with talking(tmp_path, demo) as host:
            (host.workspace / "a.txt").write_text("one\ntwo\n")
            talk = await Talk.begin(host)
            await talk.send("/edit a.txt one\nthree")
            ready = await talk.hear_one("toolCallReady")
            (edit,) = ready["edits"]["items"]
            assert edit["after"]["uri"] == (host.workspace / "a.txt").as_uri()
            assert edit["diff"] == {"added": 1, "removed": 1}
            before, after = [
                await host.parts.engine.contents.read(edit[side]["content"]["uri"])
                for side in ("before", "after")
            ]
            assert (before.data, after.data) == (b"one\ntwo\n", b"one\nthree")
            assert (host.workspace / "a.txt").read_text() == "one\ntwo\n"

    run(story)


def test_an_edit_that_cannot_be_made_is_asked_for_without_a_preview(tmp_path: Path) -> None:
    async def story() -> None:
        async with talking(tmp_path, demo) as host:
            talk = await Talk.begin(host)
            await talk.send("/edit ../b.txt hello")
            ready = await talk.hear_one("toolCallReady")
            assert "edits" not in ready
            await talk.approve(ready)
            assert "outside the workspace" in (await talk.finish()).text

    run(story)


def test_edited_input_is_held_in_the_workspace_too(tmp_path: Path) -> None:
    async def story() -> None:
        async with talking(tmp_path, demo) as host:
            talk = await Talk.begin(host)
            await talk.send("/edit a.txt hello")
            ready = await talk.hear_one("toolCallReady")
            await talk.approve(ready, edited={"path": "../b.txt", "text": "bye"})
            assert "outside the workspace" in (await talk.finish()).text
            assert not (tmp_path / "b.txt").exists()

    run(story)


def test_edit_writes_the_file_and_shows_the_change_in_the_call_and_in_the_diffs(tmp_path: Path) -> None:
    async def story() -> None:
        async with talking(tmp_path, demo) as host:
            talk = await Talk.begin(host, tools=TRUSTED)
            heard = await talk.say("/edit notes/today.txt Buy milk\nand bread")
            file = host.workspace / "notes" / "today.txt"
            assert file.read_text() == "Buy milk\nand bread"
            assert heard.text == "Wrote 18 characters to notes/today.txt."
            result = heard.of("toolCallComplete")[0]["result"]
            edit = next(block for block in result["content"] if block["type"] == "fileEdit")
            assert edit["after"]["uri"] == file.as_uri()
            assert "before" not in edit
            assert edit["diff"] == {"added": 2, "removed": 0}

            await talk.say("/edit notes/today.txt Buy milk")
            (diff,) = talk.state["summary"]["diffs"]
            assert diff["after"]["uri"] == file.as_uri()
            content = await host.parts.engine.contents.read(diff["after"]["content"]["uri"])
            assert content.data == b"Buy milk"

    run(story)


@pytest.fixture
def outside(tmp_path: Path) -> Path:
    """Make a secret beside the workspace, and links that lead to it."""
    workspace = tmp_path / "workspace"
    workspace.mkdir()
    secret = tmp_path / "secret.txt"
    secret.write_text("secret")
    (workspace / "link.txt").symlink_to(secret)
    (workspace / "up").symlink_to(tmp_path)
    (workspace / "circle").symlink_to(workspace / "circle")
    return secret


@pytest.mark.parametrize(
    "path", ["../secret.txt", "a/../../secret.txt", "link.txt", "up/secret.txt", "{outside}"]
)
@pytest.mark.parametrize("name", ["read_file", "write_file"])
def test_no_path_leads_out_of_the_workspace(tmp_path: Path, outside: Path, name: str, path: str) -> None:
    path = path.replace("{outside}", str(outside))
    text = {"text": "mine"} if name == "write_file" else {}
    answer = called(tmp_path, name, path=path, **text)
    assert answer == f"{name} -> {path!r} is outside the workspace; only files inside it can be used"
    assert outside.read_text() == "secret"


@pytest.mark.usefixtures("outside")
@pytest.mark.parametrize(
    ("path", "reason"),
    [
        ("circle", ""),
        ("nul\0byte", "is not the path of a file"),
        (".", "is the workspace itself"),
        ("missing.txt", "No such file or directory"),
        ("x" * 300, "too long"),
    ],
)
def test_a_path_that_cannot_be_read_is_told_in_a_sentence_without_the_place_of_the_workspace(
    tmp_path: Path, path: str, reason: str
) -> None:
    answer = called(tmp_path, "read_file", path=path)
    assert reason in answer
    assert str(tmp_path) not in answer
    assert "Error" not in answer


def test_an_absolute_path_inside_the_workspace_is_as_good_as_any(tmp_path: Path) -> None:
    path = str(tmp_path / "workspace" / "a.txt")
    assert called(tmp_path, "write_file", path=path, text="x").endswith(f"to {path}.")


def test_files_that_are_no_text_or_too_large_are_refused(tmp_path: Path) -> None:
    workspace = tmp_path / "workspace"
    workspace.mkdir()
    (workspace / "binary").write_bytes(b"\xff\xfe\x00")
    (workspace / "large").write_bytes(b"x" * (MAX_FILE_BYTES + 1))
    assert "is not text in UTF-8" in called(tmp_path, "read_file", path="binary")
    assert "is larger than" in called(tmp_path, "read_file", path="large")
    (workspace / "folder").mkdir()
    assert "is not a plain file" in called(tmp_path, "write_file", path="folder", text="")
    too_long = "x" * (MAX_FILE_BYTES + 1)
    assert "is larger than" in called(tmp_path, "write_file", path="a", text=too_long)
    assert not (workspace / "a").exists()
