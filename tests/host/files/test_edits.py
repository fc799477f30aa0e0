"""Writes into files: appended, inserted, cut off, created only, and only if nobody was faster."""

import asyncio
import os
import resource
import signal
import stat
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agenthost.errors import (
    InvalidValue,
    ResourceConflict,
    ResourceDenied,
    ResourceError,
    ResourceExists,
    ResourceNotFound,
    TooLarge,
)
from agenthost.host.files.edits import spliced
from agenthost.host.files.files import FileLimits, Files
from agenthost.host.files.uris import uri_of
from host.files.filing import OUTSIDE, opened
from hosting import run


async def write(files: Files, path: Path, data: str, **over: Any) -> None:
    params: Any = {"uri": uri_of(path), "data": data, "encoding": "utf-8", **over}
    await files.write(None, params)


async def etag_of(files: Files, path: Path) -> str:
    return (await files.resolve(None, {"uri": uri_of(path)}))["etag"]


# Where the data goes


@pytest.mark.parametrize(
    ("before", "over", "after"),
    [
        ("LONGER", {}, "new"),
        ("LONGER", {"mode": "truncate"}, "new"),
        ("PREFIX-OLD", {"mode": "truncate", "position": 7}, "PREFIX-new"),
        ("PREFIX-OLD", {"position": 7.0}, "PREFIX-new"),
        ("HEAD", {"mode": "truncate", "position": 100}, "HEADnew"),
        ("BEGIN-", {"mode": "append"}, "BEGIN-new"),
        ("BEGIN-END", {"mode": "append", "position": 4}, "BEGINnew-END"),
        ("TAIL", {"mode": "append", "position": 100}, "newTAIL"),
        ("ABCD", {"mode": "insert"}, "newABCD"),
        ("ABCD", {"mode": "insert", "position": 2}, "ABnewCD"),
        ("HEAD", {"mode": "insert", "position": 10**30}, "HEADnew"),
        ("A😀B", {"mode": "insert", "position": 5}, "A😀newB"),
        ("A😀B", {"mode": "append", "position": 1}, "A😀newB"),
        ("A😀B", {"mode": "truncate", "position": 5}, "A😀new"),
        *[(None, {"mode": mode, "position": 3}, "new") for mode in ("truncate", "append", "insert")],
        *[(None, {"mode": mode, "createOnly": True}, "new") for mode in ("truncate", "append", "insert")],
    ],
)
def test_data_goes_where_the_mode_says(
    tmp_path: Path, before: str | None, over: dict[str, Any], after: str
) -> None:
    async def story() -> None:
        with opened(tmp_path) as (files, workspace, _):
            file = workspace / "file"
            if before is not None:
                file.write_text(before)
                file.chmod(0o640)
            await write(files, file, "new", **over)
            assert file.read_text() == after
            assert before is None or stat.S_IMODE(file.stat().st_mode) == 0o640
            assert [path.name for path in workspace.iterdir()] == ["file"]

    run(story)


@given(old=st.binary(max_size=20), data=st.binary(max_size=5), position=st.integers(0, 30))
def test_an_append_and_an_insert_keep_every_byte(old: bytes, data: bytes, position: int) -> None:
    inserted, appended = (spliced(old, data, mode, position) for mode in ("insert", "append"))
    start = min(position, len(old))
    assert inserted == old[:start] + data + old[start:]
    assert appended == spliced(old, data, "insert", len(old) - min(position, len(old)))
    assert spliced(old, data, "truncate", position) == old[:position] + data


@pytest.mark.parametrize("position", [-1, 1.5, float("inf"), float("nan")])
def test_a_position_is_a_number_of_bytes(tmp_path: Path, position: float) -> None:
    async def story() -> None:
        with opened(tmp_path) as (files, workspace, _):
            (workspace / "file").write_text("old")
            with pytest.raises(InvalidValue, match=r"\$\.position"):
                await write(files, workspace / "file", "new", mode="insert", position=position)
            assert (workspace / "file").read_text() == "old"

    run(story)


MODES = pytest.mark.parametrize("mode", ["truncate", "append", "insert"])


@MODES
def test_a_file_never_grows_beyond_the_limit(tmp_path: Path, mode: str) -> None:
    async def story() -> None:
        with opened(tmp_path, limits=FileLimits(file_bytes=10)) as (files, workspace, _):
            file = workspace / "file"
            file.write_text("12345678")
            with pytest.raises(TooLarge):
                await write(files, file, "abc", mode=mode, position=0 if mode == "append" else 8)
            assert file.read_text() == "12345678"
            file.write_text("x" * 11)
            with pytest.raises(TooLarge):
                await write(files, file, "", mode=mode, position=1)

    run(story)


@MODES
@pytest.mark.parametrize("position", [0, 1])
def test_nothing_is_written_through_a_link_or_into_a_folder(tmp_path: Path, mode: str, position: int) -> None:
    async def story() -> None:
        with opened(tmp_path) as (files, workspace, outside):
            (workspace / "link").symlink_to(outside / "file")
            (workspace / "up").symlink_to(outside)
            (workspace / "folder").mkdir()
            os.mkfifo(workspace / "pipe")
            over = {"mode": mode, "position": position}
            for path in ("link", "up/file", "up/new", "../outside/file"):
                with pytest.raises(ResourceDenied):
                    await write(files, workspace / path, "attack", **over)
            for path in ("folder", "pipe"):
                with pytest.raises(InvalidValue):
                    await write(files, workspace / path, "attack", **over)
            with pytest.raises(ResourceNotFound):
                await write(files, workspace / "none" / "file", "attack", **over)
            assert (outside / "file").read_text() == OUTSIDE
            assert [path.name for path in outside.iterdir()] == ["file"]

    run(story)


def test_an_append_does_not_reach_a_file_outside_that_has_another_name_inside(tmp_path: Path) -> None:
    async def story() -> None:
        with opened(tmp_path) as (files, workspace, outside):
            (workspace / "name").hardlink_to(outside / "file")
            await write(files, workspace / "name", "!", mode="append")
            assert (workspace / "name").read_text() == OUTSIDE + "!"
            assert (outside / "file").read_text() == OUTSIDE

    run(story)


def test_an_append_changes_the_file_itself(tmp_path: Path) -> None:
    """A program that has it open, such as `tail -f`, sees what is appended."""

    async def story() -> None:
        with opened(tmp_path) as (files, workspace, _):
            (workspace / "log").write_text("one\n")
            with (workspace / "log").open() as reader:
                assert reader.read() == "one\n"
                await write(files, workspace / "log", "two\n", mode="append")
                assert reader.read() == "two\n"

    run(story)


# Others at the same time


def test_appends_at_the_same_time_all_arrive_whole(tmp_path: Path) -> None:
    async def story() -> None:
        with opened(tmp_path) as (files, workspace, _):
            pieces = [f"<{number}:{'x' * 5000}>" for number in range(200)]
            log = workspace / "log"
            await asyncio.gather(*(write(files, log, piece, mode="append") for piece in pieces))
            assert sorted(log.read_text().replace("><", ">\n<").split("\n")) == sorted(pieces)

    run(story)


APPENDER = """
import os, sys
log = os.open(sys.argv[1], os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o666)
for number in range(300):
    os.write(log, b"<other%d:%s>" % (number, b"y" * 5000))
"""


def test_appends_of_another_program_arrive_whole_too(tmp_path: Path) -> None:
    async def story() -> None:
        with opened(tmp_path) as (files, workspace, _):
            log = workspace / "log"
            other = await asyncio.create_subprocess_exec(sys.executable, "-c", APPENDER, str(log))
            ours: list[str] = []
            while other.returncode is None or len(ours) < 50:
                ours.append(f"<{len(ours)}:{'x' * 5000}>")
                await write(files, log, ours[-1], mode="append")
            theirs = [f"<other{number}:{'y' * 5000}>" for number in range(300)]
            assert sorted(log.read_text().replace("><", ">\n<").split("\n")) == sorted([*ours, *theirs])

    run(story)


def test_inserts_at_the_same_time_all_arrive(tmp_path: Path) -> None:
    async def story() -> None:
        with opened(tmp_path) as (files, workspace, _):
            file = workspace / "file"
            file.write_text("|")
            await asyncio.gather(
                *(write(files, file, chr(ord("A") + n), mode="insert") for n in range(13)),
                *(write(files, file, chr(ord("A") + n), mode="append", position=1) for n in range(13, 26)),
            )
            assert sorted(file.read_text()) == [*(chr(ord("A") + n) for n in range(26)), "|"]

    run(story)


@MODES
def test_of_writes_that_must_create_the_file_one_succeeds(tmp_path: Path, mode: str) -> None:
    async def story() -> None:
        with opened(tmp_path) as (files, workspace, _):
            file = workspace / "file"
            tries = [write(files, file, f"{n}", mode=mode, createOnly=True) for n in range(16)]
            results = await asyncio.gather(*tries, return_exceptions=True)
            assert sorted(type(result).__name__ for result in results) == [
                "NoneType",
                *["ResourceExists"] * 15,
            ]
            assert file.read_text() == str(results.index(None))
            with pytest.raises(ResourceExists):
                await write(files, file, "late", mode=mode, createOnly=True)

    run(story)


@contextmanager
def largest_file(size: int) -> Iterator[None]:
    """Let the system write no file beyond this size, as on a full disk."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
        signal.signal(signal.SIGXFSZ, handler)


@MODES
@pytest.mark.parametrize("position", [0, 2])
def test_a_full_disk_leaves_the_file_as_it_was(tmp_path: Path, mode: str, position: int) -> None:
    async def story() -> None:
        with opened(tmp_path) as (files, workspace, _):
            (workspace / "file").write_text("before")
            with largest_file(1000), pytest.raises(ResourceError, match="large"):
                await write(files, workspace / "file", "x" * 5000, mode=mode, position=position)
            assert (workspace / "file").read_text() == "before"
            assert [path.name for path in workspace.iterdir()] == ["file"]

    run(story)


# Etags


@MODES
def test_a_write_with_the_current_etag_succeeds_and_the_next_one_does_not(tmp_path: Path, mode: str) -> None:
    async def story() -> None:
        with opened(tmp_path) as (files, workspace, _):
            file = workspace / "file"
            file.write_text("old")
            etag = await etag_of(files, file)
            assert await etag_of(files, file) == etag
            await write(files, file, "1", mode=mode, ifMatch=etag)
            after = file.read_text()
            assert "1" in after
            with pytest.raises(ResourceConflict, match="changed in the meantime"):
                await write(files, file, "2", mode=mode, ifMatch=etag)
            assert file.read_text() == after
            assert await etag_of(files, file) != etag

    run(story)


@MODES
def test_of_writes_with_one_etag_one_succeeds(tmp_path: Path, mode: str) -> None:
    async def story() -> None:
        with opened(tmp_path) as (files, workspace, _):
            file = workspace / "file"
            for turn in range(20):
                file.write_text(f"old {turn}")
                etag = await etag_of(files, file)
                tries = [write(files, file, f"new {n}", mode=mode, ifMatch=etag) for n in range(8)]
                results = await asyncio.gather(*tries, return_exceptions=True)
                assert sorted(type(result).__name__ for result in results) == [
                    "NoneType",
                    *["ResourceConflict"] * 7,
                ]
                assert f"new {results.index(None)}" in file.read_text()

    run(story)


@MODES
def test_a_file_that_is_missing_has_no_etag(tmp_path: Path, mode: str) -> None:
    async def story() -> None:
        with opened(tmp_path) as (files, workspace, _):
            file = workspace / "file"
            with pytest.raises(ResourceConflict):
                await write(files, file, "new", mode=mode, ifMatch="anything")
            file.write_text("old")
            etag = await etag_of(files, file)
            await files.delete(None, {"uri": uri_of(file)})
            with pytest.raises(ResourceConflict):
                await write(files, file, "new", mode=mode, ifMatch=etag)
            assert list(workspace.iterdir()) == []

    run(story)


def test_an_etag_notices_what_looks_the_same(tmp_path: Path) -> None:
    """The same size, written at once, with the old time set again: the etag is another one."""

    async def story() -> None:
        with opened(tmp_path) as (files, workspace, _):
            file = workspace / "file"
            file.write_text("0")
            for turn in range(100):
                etag = await etag_of(files, file)
                before = file.stat()
                with file.open("r+") as writer:
                    writer.write(str(turn % 10))
                os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))
                with pytest.raises(ResourceConflict):
                    await write(files, file, "lost", ifMatch=etag)

    run(story)


def test_an_etag_notices_another_file_of_that_name(tmp_path: Path) -> None:
    async def story() -> None:
        with opened(tmp_path) as (files, workspace, _):
            (workspace / "a").write_text("same")
            (workspace / "b").write_text("same")
            etag = await etag_of(files, workspace / "a")
            await files.move(
                None, {"source": uri_of(workspace / "b"), "destination": uri_of(workspace / "a")}
            )
            with pytest.raises(ResourceConflict):
                await write(files, workspace / "a", "lost", ifMatch=etag)

    run(story)
