"""Files read, written and listed as clients do it, on a real disk."""

import asyncio
import os
import stat
from base64 import b64encode
from pathlib import Path
from typing import Any

import pytest

from agenthost.errors import (
    ContentNotFound,
    InvalidValue,
    ResourceDenied,
    ResourceExists,
    ResourceNotFound,
    TooLarge,
    TooMany,
)
from agenthost.host.files.files import FileLimits, Files
from agenthost.host.files.grants import Grants
from agenthost.host.files.uris import uri_of
from agenthost.host.state.blob_access import content_reader
from agenthost.host.state.session import Session
from agenthost.host.storage import StoredContent
from host.files.filing import opened, text_of
from hosting import keep_blob, new_session, run, started


def names_in(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


# Reading


@pytest.mark.parametrize(
    ("data", "wish", "encoding"),
    [
        (b"text", None, "utf-8"),
        ("höß 😀".encode(), "utf-8", "utf-8"),
        (b"text", "base64", "base64"),
        (b"\xff\xfe", "utf-8", "base64"),
        (b"\xff\xfe", None, "base64"),
        (b"a\0b", None, "base64"),
        (b"a\0b", "utf-8", "utf-8"),
        (b"", None, "utf-8"),
    ],
)
def test_text_is_returned_as_text_and_anything_else_as_base64(
    tmp_path: Path, data: bytes, wish: Any, encoding: str
) -> None:
    async def story() -> None:
        with opened(tmp_path) as (files, workspace, _):
            (workspace / "file").write_bytes(data)
            params: Any = {"uri": uri_of(workspace / "file"), **({"encoding": wish} if wish else {})}
            answer = await files.read(None, params)
            assert answer["encoding"] == encoding
            assert answer["data"] == (data.decode() if encoding == "utf-8" else b64encode(data).decode())

    run(story)


def test_the_content_type_is_guessed_from_the_name(tmp_path: Path) -> None:
    async def story() -> None:
        with opened(tmp_path) as (files, workspace, _):
            for name, kind in {
                "a.png": "image/png",
                "a.html": "text/html",
                "a": None,
                "a.txt.gz": None,
            }.items():
                (workspace / name).touch()
                answer = await files.read(None, {"uri": uri_of(workspace / name)})
                assert answer.get("contentType") == kind

    run(story)


def test_a_file_that_is_too_large_is_refused_by_its_size_alone(tmp_path: Path) -> None:
    async def story() -> None:
        with opened(tmp_path, limits=FileLimits(file_bytes=100)) as (files, workspace, _):
            with (workspace / "file").open("wb") as file:
                file.truncate(1 << 40)  # no disk could hold it
            with pytest.raises(TooLarge):
                await text_of(files, workspace / "file")
            os.truncate(workspace / "file", 100)
            assert len(await text_of(files, workspace / "file")) > 0

    run(story)


def test_special_files_are_not_read_and_block_nobody(tmp_path: Path) -> None:
    async def story() -> None:
        with opened(tmp_path) as (files, workspace, _):
            os.mkfifo(workspace / "pipe")
            for path in (workspace / "pipe", workspace):
                with pytest.raises(InvalidValue, match=r"\$\.uri: expected a file"):
                    await text_of(files, path)
            with pytest.raises(ResourceNotFound):
                await text_of(files, workspace / "missing")

    run(story)


def told(session: Session, data: bytes) -> str:
    return keep_blob(session, data, "image/png")["uri"]


def test_the_contents_of_a_session_are_read_by_its_owner_only(tmp_path: Path) -> None:
    async def story() -> None:
        async with started(tmp_path) as host:
            session = await new_session(host, "demo:/one", owner="ann")
            uri = told(session, b"\x89PNG")
            await host.journal.wait()
            files = Files(
                Grants(tmp_path), FileLimits(file_bytes=4), content_reader(host.contents, host.sessions)
            )
            for owner in ("ann", None):
                answer = await files.read(owner, {"uri": uri})
                assert answer == {"data": "iVBORw==", "encoding": "base64", "contentType": "image/png"}
            for owner, wanted in (("bob", uri), ("ann", f"{uri}0"), ("ann", "demo:/two/content/1")):
                with pytest.raises(ContentNotFound):
                    await files.read(owner, {"uri": wanted})
            with pytest.raises(ResourceNotFound):
                await files.read("ann", {"uri": "demo:/one"})
            large = told(session, b"12345")
            await host.journal.wait()
            with pytest.raises(TooLarge):
                await files.read("ann", {"uri": large})
            files.close()
            assert (await host.contents.read(large)) == StoredContent("image/png", b"12345")

    run(story)


# Writing


def test_what_was_written_is_read_back(tmp_path: Path) -> None:
    async def story() -> None:
        with opened(tmp_path) as (files, workspace, _):
            uri = uri_of(workspace / "a 100% new? file#1.txt")
            await files.write(None, {"uri": uri, "data": "höß", "encoding": "utf-8"})
            assert (await files.read(None, {"uri": uri}))["data"] == "höß"
            await files.write(None, {"uri": uri, "data": "/w==", "encoding": "base64"})
            assert (workspace / "a 100% new? file#1.txt").read_bytes() == b"\xff"
            odd = f"{uri_of(workspace)}/%ff%fe"
            await files.write(None, {"uri": odd, "data": "odd", "encoding": "utf-8"})
            assert (await files.read(None, {"uri": odd}))["data"] == "odd"

    run(story)


def test_a_replaced_file_keeps_its_permissions_and_a_new_one_has_the_default(tmp_path: Path) -> None:
    async def story() -> None:
        with opened(tmp_path) as (files, workspace, _):
            for name, mode in {"private": 0o600, "program": 0o755}.items():
                (workspace / name).touch()
                (workspace / name).chmod(mode)
                await files.write(None, {"uri": uri_of(workspace / name), "data": "x", "encoding": "utf-8"})
                assert stat.S_IMODE((workspace / name).stat().st_mode) == mode
            (workspace / "usual").touch()
            await files.write(None, {"uri": uri_of(workspace / "new"), "data": "x", "encoding": "utf-8"})
            assert (workspace / "new").stat().st_mode == (workspace / "usual").stat().st_mode

    run(story)


def test_a_refused_write_changes_nothing(tmp_path: Path) -> None:
    async def story() -> None:
        with opened(tmp_path, limits=FileLimits(file_bytes=10)) as (files, workspace, outside):
            (workspace / "file").write_text("before")
            (workspace / "folder").mkdir()
            (workspace / "link").symlink_to("file")
            (workspace / "out").symlink_to(outside / "file")
            (workspace / "dangling").symlink_to("nothing")
            (workspace / "way").symlink_to("folder")
            os.mkfifo(workspace / "pipe")
            before = names_in(workspace)
            refused: list[tuple[str, dict[str, Any], type[Exception]]] = [
                ("file", {"createOnly": True}, ResourceExists),
                ("link", {"createOnly": True}, ResourceExists),
                ("file", {"encoding": "base64", "data": "a"}, InvalidValue),
                ("file", {"encoding": "base64", "data": "a b="}, InvalidValue),
                ("file", {"data": "\ud800"}, InvalidValue),
                ("file", {"data": "12345678901"}, TooLarge),
                ("new", {"data": "12345678901", "createOnly": True}, TooLarge),
                ("folder", {}, InvalidValue),
                ("pipe", {}, InvalidValue),
                ("missing/new", {}, ResourceNotFound),
                ("file/new", {}, ResourceNotFound),
                ("n" * 300, {}, ResourceNotFound),
                ("link", {}, ResourceDenied),
                ("out", {}, ResourceDenied),
                ("dangling", {}, ResourceDenied),
                ("way/new", {}, ResourceDenied),
            ]
            for name, over, kind in refused:
                params: Any = {"uri": uri_of(workspace / name), "data": "new", "encoding": "utf-8", **over}
                with pytest.raises(kind):
                    await files.write(None, params)
            assert names_in(workspace) == before
            assert (workspace / "file").read_text() == "before"
            assert names_in(workspace / "folder") == []

    run(story)


def test_of_many_concurrent_creations_one_wins_completely(tmp_path: Path) -> None:
    async def story() -> None:
        with opened(tmp_path) as (files, workspace, _):
            uri = uri_of(workspace / "file")

            async def create(number: int) -> bool:
                try:
                    data = f"{number} " * 10_000
                    await files.write(
                        None, {"uri": uri, "data": data, "encoding": "utf-8", "createOnly": True}
                    )
                except ResourceExists:
                    return False
                return True

            won = await asyncio.gather(*map(create, range(20)))
            assert sum(won) == 1
            assert (workspace / "file").read_text() == f"{won.index(True)} " * 10_000
            assert names_in(workspace) == ["file"]

    run(story)


# Listing


def test_a_folder_is_listed_by_name_with_the_kind_of_its_link_targets(tmp_path: Path) -> None:
    async def story() -> None:
        with opened(tmp_path) as (files, workspace, _):
            for name in ("b", "a.txt", "ä"):
                (workspace / name).touch()
            (workspace / "c").mkdir()
            for name, leads_to in {"d": "c", "e": "b", "f": "../outside", "g": "nothing"}.items():
                (workspace / name).symlink_to(leads_to)
            (workspace / os.fsdecode(b"h\xff")).touch()
            listed = await files.list(None, {"uri": uri_of(workspace)})
            kinds = {entry["name"]: entry["type"] for entry in listed["entries"]}
            assert list(kinds) == ["a.txt", "b", "c", "d", "e", "f", "g", "h\ufffd", "ä"]
            assert [name for name, kind in kinds.items() if kind == "directory"] == ["c", "d"]

    run(story)


def test_only_a_folder_that_is_there_and_not_too_full_is_listed(tmp_path: Path) -> None:
    async def story() -> None:
        with opened(tmp_path, limits=FileLimits(folder_entries=2)) as (files, workspace, _):
            for name in ("a", "b"):
                (workspace / name).touch()
            assert len((await files.list(None, {"uri": uri_of(workspace)}))["entries"]) == 2
            for path in (workspace / "a", workspace / "missing"):
                with pytest.raises(ResourceNotFound):
                    await files.list(None, {"uri": uri_of(path)})
            (workspace / "c").touch()
            with pytest.raises(TooMany, match="more than 2 entries"):
                await files.list(None, {"uri": uri_of(workspace)})

    run(story)
