"""What a URI leads to, and new folders, on a real disk."""

import asyncio
import os
import re
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from agenthost.errors import ContentNotFound, ResourceDenied, ResourceExists, ResourceNotFound
from agenthost.host.files.files import Files
from agenthost.host.files.grants import FilePolicy, Grants
from agenthost.host.files.resolver import _iso
from agenthost.host.files.uris import parse_uri, uri_of
from agenthost.host.state.blob_access import content_reader
from host.files.filing import opened
from hosting import keep_blob, new_session, run, started


async def resolved(files: Files, path: Path, **over: Any) -> dict[str, Any]:
    params: Any = {"uri": uri_of(path), **over}
    return dict(await files.resolve(None, params))


async def made(files: Files, path: Path) -> None:
    await files.mkdir(None, {"uri": uri_of(path)})


# Resolving


def test_a_file_is_described(tmp_path: Path) -> None:
    async def story() -> None:
        with opened(tmp_path) as (files, workspace, _):
            file = workspace / "a.html"
            file.write_bytes(b"\0\xff\x01")
            os.utime(file, ns=(0, 1_700_000_000_123_456_789))
            found = await resolved(files, file)
            assert re.fullmatch("[0-9a-f]{24}", found.pop("etag"))
            assert found == {
                "uri": uri_of(file),
                "type": "file",
                "size": 3,
                "mtime": "2023-11-14T22:13:20.123Z",
                "ctime": "2023-11-14T22:13:20.123Z",
                "contentType": "text/html",
            }

    run(story)


def test_a_folder_is_described(tmp_path: Path) -> None:
    async def story() -> None:
        with opened(tmp_path) as (files, workspace, _):
            found = await resolved(files, workspace)
            times = [datetime.fromisoformat(found.pop(name)) for name in ("mtime", "ctime")]
            assert all(abs((datetime.now(UTC) - time).total_seconds()) < 60 for time in times)
            assert found == {"uri": uri_of(workspace), "type": "directory"}

    run(story)


def test_a_link_leads_to_its_target_unless_it_is_asked_for_itself(tmp_path: Path) -> None:
    async def story() -> None:
        with opened(tmp_path) as (files, workspace, _):
            (workspace / "real").mkdir()
            (workspace / "real" / "file").write_text("text")
            (workspace / "way").symlink_to("real")
            (workspace / "link").symlink_to("way/file")
            for path in ("link", "way/file"):
                found = await resolved(files, workspace / path)
                assert (found["uri"], found["type"]) == (uri_of(workspace / "real/file"), "file")
            link = await resolved(files, workspace / "link", followSymlinks=False)
            assert (link["uri"], link["type"]) == (uri_of(workspace / "link"), "symlink")
            assert link.keys() == {"uri", "type", "mtime", "ctime"}
            # Only the link at the end is not followed.
            on_the_way = await resolved(files, workspace / "way/file", followSymlinks=False)
            assert (on_the_way["uri"], on_the_way["type"]) == (uri_of(workspace / "way/file"), "file")

    run(story)


def test_what_does_not_exist_is_not_found(tmp_path: Path) -> None:
    async def story() -> None:
        with opened(tmp_path) as (files, workspace, _):
            (workspace / "dangling").symlink_to("none")
            (workspace / "file").touch()
            for path in ("none", "none/below", "dangling", "file/below"):
                with pytest.raises(ResourceNotFound):
                    await resolved(files, workspace / path)
            assert (await resolved(files, workspace / "dangling", followSymlinks=False))["type"] == "symlink"

    run(story)


def test_what_is_outside_is_denied_whether_it_exists_or_not(tmp_path: Path) -> None:
    async def story() -> None:
        with opened(tmp_path, FilePolicy(reading="allow")) as (files, workspace, outside):
            (workspace / "link").symlink_to(outside / "file")
            (workspace / "up").symlink_to(outside)
            (workspace / "data").mkdir()
            asked = {
                "../outside/file": outside / "file",
                "../none": tmp_path / "none",
                "link": outside / "file",
                "up/file": outside / "file",
                "data": None,  # the host's own data: asking is of no use
                "data/none": None,
            }
            for path, end in asked.items():
                with pytest.raises(ResourceDenied) as refused:
                    await resolved(files, workspace / path)
                request = refused.value.request
                if end is None:
                    assert request is None
                else:
                    assert request is not None
                    assert parse_uri(str(request["uri"])).path == end.parts[1:]
                    assert request == {"uri": request["uri"], "read": True}
            found = await resolved(files, workspace / "link", followSymlinks=False)
            assert (found["type"], "size" in found) == ("symlink", False)

    run(story)


def test_a_time_that_no_calendar_has_is_left_out() -> None:
    assert _iso(2**40 * 10**9) is None
    assert _iso(-1) == "1969-12-31T23:59:59.999Z"


def test_a_write_changes_the_etag_however_soon_it_comes(tmp_path: Path) -> None:
    async def story() -> None:
        with opened(tmp_path) as (files, workspace, _):
            file = workspace / "file"
            file.write_text("text")
            etags = set()
            for _ in range(50):
                etags.add((await resolved(files, file))["etag"])
                file.write_text("text")
            assert len(etags) == 50

    run(story)


def test_a_content_is_described_for_its_owner(tmp_path: Path) -> None:
    async def story() -> None:
        async with started(tmp_path) as host:
            session = await new_session(host, "demo:/one", owner="ann")
            uri = keep_blob(session, b"\x89PNG", "image/png")["uri"]
            await host.journal.wait()
            files = Files(Grants(tmp_path), read_content=content_reader(host.contents, host.sessions))
            found = await files.resolve("ann", {"uri": uri})
            assert found == {"uri": uri, "type": "file", "size": 4, "contentType": "image/png"}
            with pytest.raises(ContentNotFound):
                await files.resolve("bob", {"uri": uri})
            files.close()

    run(story)


# Making folders


def test_a_folder_is_made_with_those_above_it(tmp_path: Path) -> None:
    async def story() -> None:
        with opened(tmp_path) as (files, workspace, _):
            for _ in range(2):  # one that exists is fine
                await made(files, workspace / "one" / "two" / "three")
            assert (workspace / "one" / "two" / "three").is_dir()
            await made(files, workspace)

    run(story)


def test_many_may_make_the_same_folder(tmp_path: Path) -> None:
    async def story() -> None:
        with opened(tmp_path) as (files, workspace, _):
            deep = workspace.joinpath(*map(str, range(30)))
            await asyncio.gather(*(made(files, deep / str(number % 3)) for number in range(30)))
            assert sorted(path.name for path in deep.iterdir()) == ["0", "1", "2"]

    run(story)


def test_a_folder_does_not_take_the_place_of_something_else(tmp_path: Path) -> None:
    async def story() -> None:
        with opened(tmp_path) as (files, workspace, outside):
            (workspace / "file").write_text("text")
            (workspace / "dangling").symlink_to("none")
            (workspace / "link").symlink_to(outside)
            for path in ("file", "file/below/it", "dangling", "link"):
                with pytest.raises(ResourceExists):
                    await made(files, workspace / path)
            with pytest.raises(ResourceDenied):
                await made(files, workspace / "link" / "below")
            assert (workspace / "file").read_text() == "text"
            assert [path.name for path in outside.iterdir()] == ["file"]

    run(story)


def test_no_folder_is_made_outside(tmp_path: Path) -> None:
    async def story() -> None:
        with opened(tmp_path, FilePolicy(writing="allow")) as (files, workspace, outside):
            for path in ("../outside/new", "../new/deep", "../../etc/new", "data/new", "../workspace2"):
                with pytest.raises(ResourceDenied) as refused:
                    await made(files, workspace / path)
                assert (refused.value.request is None) == path.startswith("data")
            assert sorted(path.name for path in workspace.parent.iterdir()) == ["outside", "workspace"]
            assert list(workspace.iterdir()) == []
            uri = uri_of(outside / "new" / "deep")
            await files.request(None, {"uri": uri, "write": True})
            with pytest.raises(ResourceDenied):  # what was granted is the folder itself, not those above
                await files.mkdir(None, {"uri": uri})
            await files.request(None, {"uri": uri_of(outside), "write": True})
            await files.mkdir(None, {"uri": uri})
            assert (outside / "new" / "deep").is_dir()

    run(story)


def test_the_folders_of_other_owners_are_neither_seen_nor_made(tmp_path: Path) -> None:
    async def story() -> None:
        files = Files(Grants(tmp_path / "shared", workspaces=tmp_path / "workspaces"))
        ada = files.grants.folder_of("ada")
        await files.mkdir("ada", {"uri": uri_of(ada / "new")})
        for path in (ada, ada / "new", ada / "none", ada.parent):
            with pytest.raises(ResourceDenied):
                await files.resolve("bob", {"uri": uri_of(path)})
            with pytest.raises(ResourceDenied):
                await files.mkdir("bob", {"uri": uri_of(path / "attack")})
            with pytest.raises(ResourceDenied):
                await files.write(
                    "bob", {"uri": uri_of(path / "x"), "data": "", "encoding": "utf-8", "mode": "append"}
                )
        assert sorted(path.name for path in ada.iterdir()) == ["new"]
        files.close()

    run(story)
