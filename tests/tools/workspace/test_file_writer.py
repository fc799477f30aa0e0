"""What `write_file` and `edit_file` do to files: whole, kept in style, and never over what was not seen."""

import asyncio
import stat
from pathlib import Path

import pytest

from agenthost import ToolContext
from agenthost.host.authoring.tool_results import ToolOutcome
from agenthost.tools.workspace import edit_file, file_changes, write_file
from agenthost.tools.workspace.file_changes import MAX_FILE_BYTES, CurrentFile, change_file
from agenthost.tools.workspace.texts import content_version
from working import given, outcome, refused, version


def test_a_new_file_comes_with_its_folders_and_shows_its_change(tmp_path: Path) -> None:
    found = outcome(write_file, tmp_path, path="a/b/c.txt", content="one\ntwo\n")
    assert (tmp_path / "a/b/c.txt").read_text() == "one\ntwo\n"
    version = content_version(b"one\ntwo\n")
    assert found.text == f"Wrote a/b/c.txt: +2 -0 lines; version {version}"
    assert found.message == "Wrote a/b/c.txt (+2 -0)"
    assert found.content[0]["type"] == "fileEdit"
    assert "before" not in found.content[0]


def test_a_file_that_was_not_read_is_not_replaced(tmp_path: Path) -> None:
    file = tmp_path / "a.txt"
    file.write_text("old\n")
    sentence = refused(write_file, tmp_path, path="a.txt", content="new\n")
    assert "already exists; read it, and pass the version" in sentence
    assert content_version(b"old\n") not in sentence
    seen = version(tmp_path, "a.txt")
    file.write_text("changed\n")
    assert "has changed since" in refused(write_file, tmp_path, path="a.txt", content="new\n", replaces=seen)
    assert file.read_text() == "changed\n"
    given(write_file, tmp_path, path="a.txt", content="new\n", replaces=version(tmp_path, "a.txt"))
    assert file.read_text() == "new\n"
    file.unlink()
    assert "no longer exists" in refused(write_file, tmp_path, path="a.txt", content="x", replaces=seen)


def test_writing_the_same_content_succeeds_without_a_change(tmp_path: Path) -> None:
    given(write_file, tmp_path, path="a.txt", content="x\n")
    found = outcome(write_file, tmp_path, path="a.txt", content="x\n")
    assert (found.text, found.content[0]["type"]) == (
        f"a.txt already has this content; version {content_version(b'x' + bytes([10]))}",
        "text",
    )


def test_an_edit_keeps_mode_line_ends_and_a_missing_last_one(tmp_path: Path) -> None:
    file = tmp_path / "run.sh"
    file.write_bytes(b"\xef\xbb\xbf#!/bin/sh\r\necho \xff one\r\nexit")
    file.chmod(0o750)
    given(edit_file, tmp_path, path="run.sh", old="one\nexit", new="two\nthree\nexit")
    assert file.read_bytes() == b"\xef\xbb\xbf#!/bin/sh\r\necho \xff two\r\nthree\r\nexit"
    assert stat.S_IMODE(file.stat().st_mode) == 0o750
    assert [one.name for one in tmp_path.iterdir()] == ["run.sh"]


def test_a_new_content_is_written_as_the_old_one_was(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"one\r\ntwo\r\n")
    given(write_file, tmp_path, path="a", content="1\n2\n", replaces=version(tmp_path, "a"))
    assert (tmp_path / "a").read_bytes() == b"1\r\n2\r\n"


def test_every_occurrence_is_replaced_if_that_is_wanted(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("x y x\n")
    assert "occurs 2 times" in refused(edit_file, tmp_path, path="a", old="x", new="z")
    given(edit_file, tmp_path, path="a", old="x", new="z", all=True)
    assert (tmp_path / "a").read_text() == "z y z\n"


def test_only_text_files_are_changed(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "binary").write_bytes(b"a\0b")
    with (tmp_path / "large").open("wb") as file:
        file.truncate(MAX_FILE_BYTES + 1)
    said = {
        name: refused(edit_file, tmp_path, path=name, old="a", new="b")
        for name in ("folder", "binary", "large")
    }
    assert said == {
        "folder": "'folder' is a folder; only files can be written",
        "binary": "'binary' is binary; only text can be written",
        "large": f"'large' is larger than {MAX_FILE_BYTES} bytes; change it with a command",
    }
    assert "create a new file" in refused(edit_file, tmp_path, path="nothing", old="a", new="b")
    assert "create a new file" in refused(edit_file, tmp_path, path="no/thing", old="a", new="b")
    assert not (tmp_path / "no").exists()
    assert "larger than" in refused(write_file, tmp_path, path="new", content="x" * (MAX_FILE_BYTES + 1))
    assert "'binary' is a file, not a folder" in refused(write_file, tmp_path, path="binary/x", content="x")
    assert not (tmp_path / "new").exists()


def test_edits_of_one_file_at_the_same_time_are_all_made(tmp_path: Path) -> None:
    count = 30
    (tmp_path / "a").write_text("".join(f"<{n}>\n" for n in range(count)))

    async def edit(number: int) -> ToolOutcome:
        arguments = {"path": "a", "old": f"<{number}>", "new": f"[{number}]"}
        return await edit_file.run(arguments, ToolContext(workspace=tmp_path))

    async def all_at_once() -> list[ToolOutcome]:
        return await asyncio.gather(*(edit(number) for number in range(count)))

    assert all(found.success for found in asyncio.run(all_at_once()))
    assert (tmp_path / "a").read_text() == "".join(f"[{n}]\n" for n in range(count))


def test_what_others_write_in_between_is_not_lost(tmp_path: Path) -> None:
    file = tmp_path / "a"
    file.write_text("one\n")
    seen: list[str | None] = []

    def change(found: CurrentFile) -> str:
        seen.append(found.text)
        if len(seen) == 1:
            file.write_text("one, and theirs\n")  # after it was read, before it is written
        return f"{found.text}ours\n"

    change_file(ToolContext(workspace=tmp_path), "a", change)
    assert file.read_text() == "one, and theirs\nours\n"
    assert seen == ["one\n", "one, and theirs\n"]


def test_a_file_that_keeps_changing_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(file_changes, "ATTEMPTS", 2)
    file = tmp_path / "a"
    file.write_text("")

    def change(found: CurrentFile) -> str:
        file.write_text(f"{found.text}x")
        return "ours"

    with pytest.raises(Exception, match="constantly being changed by others"):
        change_file(ToolContext(workspace=tmp_path), "a", change)
