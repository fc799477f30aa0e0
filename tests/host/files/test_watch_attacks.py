"""Watches do not tell of what may not be read, whatever is put in the way."""

import asyncio
import os
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

from agenthost.errors import ResourceDenied, ResourceNotFound
from agenthost.host.files.files import Files
from agenthost.host.files.grants import FilePolicy, Grants
from agenthost.host.files.uris import parse_uri, uri_of
from host.files.conftest import Switch
from host.files.filing import opened
from host.files.test_swap import swapping
from host.files.watching import watching
from hosting import run


def test_what_is_outside_is_not_watched(tmp_path: Path, switch: Switch) -> None:
    async def story() -> None:
        with opened(tmp_path, FilePolicy(reading="allow")) as (files, workspace, outside):
            switch(files)
            (workspace / "link").symlink_to(outside)
            (workspace / "loop").symlink_to("loop")
            asked: dict[str, Path | None] = {
                "../outside": outside,
                "../outside/file": outside / "file",
                "../none": outside.parent / "none",
                "%2e%2e/outside": outside,
                "link": outside,
                "link/file": outside / "file",
                "data": None,
                "data/none": None,
                "loop": None,
            }
            for path, end in asked.items():
                uri = f"{uri_of(workspace)}/{path}"
                for recursive in (False, True):
                    with pytest.raises(ResourceDenied) as refused:
                        await files.watches.create(
                            None, "client", uri, recursive=recursive, must_exist=recursive
                        )
                    request = refused.value.request
                    if end is None:
                        assert request is None
                    else:
                        assert request is not None
                        assert request["read"] is True
                        assert parse_uri(str(request["uri"])).path == end.parts[1:]
            with pytest.raises(ResourceNotFound):
                await files.watches.create(None, "client", "https://example.org/")
            assert files.watches._owners == {}

    run(story)


def test_a_link_out_of_the_folder_is_told_and_not_followed(tmp_path: Path, switch: Switch) -> None:
    async def story() -> None:
        with opened(tmp_path) as (files, workspace, outside):
            switch(files)
            (workspace / "first").symlink_to(outside)
            async with watching(files, workspace, recursive=True) as ear:
                (workspace / "second").symlink_to(outside)
                (workspace / "third").symlink_to(outside / "file")
                await ear.hears(("second", "added"), ("third", "added"))
                (outside / "new").touch()
                (outside / "file").write_text("changed")
                (outside / "folder").mkdir()
                await ear.hears_nothing()

    run(story)


def test_the_data_of_the_host_is_not_told_of(tmp_path: Path, switch: Switch) -> None:
    async def story() -> None:
        with opened(tmp_path) as (files, workspace, _):
            switch(files)
            async with watching(files, workspace, recursive=True) as ear:
                (workspace / "data").mkdir()
                (workspace / "data" / "keys.json").write_text("{}")
                await ear.hears_nothing()
                (workspace / "database").touch()
                await ear.hears(("database", "added"))

    run(story)


def test_other_owners_are_not_told_of(tmp_path: Path, switch: Switch) -> None:
    async def story() -> None:
        grants = Grants(
            tmp_path / "shared",
            FilePolicy(reading="allow", whole=(tmp_path,)),
            workspaces=tmp_path / "workspaces",
        )
        files = Files(grants)
        switch(files)
        ann, bob = grants.folder_of("ann"), grants.folder_of("bob")
        for folder in (ann, ann.parent, ann / "none"):
            with pytest.raises(ResourceDenied):
                await files.watches.create("bob", "client", uri_of(folder), recursive=True)
        # Even whoever may see a folder above does not see them.
        await files.request("bob", {"uri": uri_of(tmp_path)})
        async with (
            watching(files, tmp_path, "bob", recursive=True) as above,
            watching(files, bob, "bob", recursive=True) as own,
        ):
            (ann / "secret").touch()
            (ann / "folder").mkdir()
            (bob / "mine").touch()
            await own.hears(("mine", "added"))
            await above.hears_nothing()
            (tmp_path / "common").touch()
            await above.hears(("common", "added"))
        files.close()

    run(story)


def test_a_watch_ends_when_its_grant_is_revoked(tmp_path: Path, switch: Switch) -> None:
    async def story() -> None:
        with opened(tmp_path, FilePolicy(reading="allow")) as (files, _, outside):
            switch(files)
            await files.request(None, {"uri": uri_of(outside)})
            async with watching(files, outside) as ear:
                (outside / "new").touch()
                await ear.hears(("new", "added"))
                files.grants.revoke(None)
                (outside / "secret").touch()
                assert isinstance(await ear.ended(), ResourceDenied)
                assert ear.heard == []
            assert files.watches._owners == {}

    run(story)


def test_a_watch_ends_when_its_folder_becomes_a_link_to_the_outside(tmp_path: Path, switch: Switch) -> None:
    async def story() -> None:
        with opened(tmp_path) as (files, workspace, outside):
            switch(files)
            (workspace / "folder").mkdir()
            async with watching(files, workspace / "folder", recursive=True) as ear:
                (workspace / "folder").rename(workspace / "other")
                (workspace / "folder").symlink_to(outside)
                assert isinstance(await ear.ended(), ResourceDenied)
                assert ear.heard == []

    run(story)


@contextmanager
def busy(folder: Path) -> Iterator[None]:
    """Let files come and go in a folder, as fast as a thread can."""
    ended = threading.Event()

    def work() -> None:
        number = 0
        while not ended.is_set():
            number += 1
            secret = folder / f"secret{number % 50}"
            secret.touch()
            os.utime(secret)
            secret.unlink()

    thread = threading.Thread(target=work)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()


@pytest.mark.parametrize("over", [{}, {"includes": ["**/secret*"]}])
def test_a_swap_of_a_folder_and_a_link_tells_nothing_of_the_outside(
    tmp_path: Path, switch: Switch, over: dict[str, Any]
) -> None:
    async def story() -> None:
        with opened(tmp_path) as (files, workspace, outside):
            switch(files)
            (outside / "secret").touch()
            (outside / "secret-folder").mkdir()
            async with watching(files, workspace, recursive=True, **over) as ear:
                with swapping(workspace, outside), busy(outside):
                    for number in range(15):
                        await asyncio.sleep(0.1)
                        with suppress(FileNotFoundError):  # it has the other name now
                            (workspace / "real" / f"mine{number}").touch()
                await asyncio.sleep(0.3)
                assert [path for path, _ in ear.heard if "secret" in path] == []
                assert over or ear.heard

    run(story)


def test_globs_that_would_backtrack_take_no_time(tmp_path: Path) -> None:
    async def story() -> None:
        with opened(tmp_path) as (files, workspace, _):
            globs = ["**/" + "*a" * 100 + "b", "**/a/" * 50 + "b", "*" * 500 + "b"]
            for number in range(100):
                (workspace / ("a" * 200 + f"{number}")).touch()
            start = time.process_time()
            async with watching(files, workspace, recursive=True, excludes=globs, includes=globs) as ear:
                (workspace / ("a" * 250)).touch()
                await ear.hears_nothing()
            assert time.process_time() - start < 2

    run(story)
