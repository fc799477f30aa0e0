"""How much watches may take, and what they leave."""

import asyncio
import os
import random
import resource
from pathlib import Path
from typing import Any

import pytest

from agenthost.errors import LimitReached, ResourceNotFound, TooMany
from agenthost.host.files.files import Files
from agenthost.host.files.grants import Grants
from agenthost.host.files.uris import uri_of
from agenthost.host.files.watches import watch as watch_module
from agenthost.host.files.watches.marks import Marks
from agenthost.host.limits import Limits
from host.files.filing import opened
from host.files.watching import Ear, watching
from hosting import run

QUEUE = int(Path("/proc/sys/fs/inotify/max_queued_events").read_text())
"""How many events the system keeps."""


def test_a_burst_is_told_in_bounded_batches_even_if_the_system_loses_events(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(watch_module, "MAX_REST_SECONDS", 0.5)

    async def story() -> None:
        with opened(tmp_path) as (files, workspace, _):
            for name in ("noise", "other"):
                (workspace / name).mkdir()
            async with watching(files, workspace, recursive=True) as ear:
                for number in range(QUEUE + 2_000):  # nothing is read meanwhile
                    os.close(os.open(workspace / "noise" / f"{number}", os.O_CREAT | os.O_WRONLY))
                (workspace / "other" / "lost").touch()
                noise = ((f"noise/{number}", "added") for number in range(QUEUE + 2_000))
                await ear.hears(("other/lost", "added"), *noise)
                assert max(ear.batches) <= 1_000
                (workspace / "noise" / "5").write_text("still watched")
                await ear.hears(("noise/5", "updated"))

    run(story)


def test_more_than_may_be_watched_is_refused(tmp_path: Path) -> None:
    async def story() -> None:
        workspace = tmp_path / "workspace"
        for folder in ("a", "b", "c"):
            (workspace / folder).mkdir(parents=True)
            for number in range(9):
                (workspace / folder / f"{number}").touch()
        files = Files(Grants(workspace), host_limits=Limits(watched_entries=25))
        with pytest.raises(TooMany, match="more than 25 entries"):
            await files.watches.create(None, "me", uri_of(workspace), recursive=True)
        one = await files.watches.create(None, "me", uri_of(workspace), recursive=True, excludes=["c"])
        kept = await files.watches.create(None, "me", uri_of(workspace / "c" / "0"))
        with pytest.raises(TooMany):  # all watches of an owner together
            await files.watches.create(None, "me", uri_of(workspace / "c"))
        one.close()
        budget = files.watches._owners[None].budget
        for _ in range(500):  # it is forgotten in a thread
            await asyncio.sleep(0 if budget._left == 25 else 0.01)
        two = await files.watches.create(None, "me", uri_of(workspace / "c"))
        kept.close()
        ear = Ear(two, workspace / "c")
        (workspace / "c" / "new").touch()
        await ear.hears(("new", "added"))
        for number in range(30):  # what is beyond the limit is not told; what is known still is
            (workspace / "c" / f"more{number}").touch()
        (workspace / "c" / "0").unlink()
        await ear.hears_also(("0", "deleted"))
        assert 10 < len(ear.heard) <= 18
        await ear.stop()
        files.close()

    run(story)


def test_watches_are_counted_for_each_client_each_owner_and_in_all(tmp_path: Path) -> None:
    async def story() -> None:
        limits = Limits(watches=5, watches_per_owner=3, watches_per_client=2)
        files = Files(Grants(tmp_path, workspaces=tmp_path / "workspaces"), host_limits=limits)

        async def create(owner: str, client: str) -> Any:
            uri = uri_of(files.grants.folder_of(owner))
            return await files.watches.create(owner, client, uri)

        first = [await create("ann", "one"), await create("ann", "one")]
        with pytest.raises(LimitReached, match="2 watches of this client"):
            await create("ann", "one")
        await create("ann", "two")
        with pytest.raises(LimitReached, match="3 watches of yours"):
            await create("ann", "two")
        await create("bob", "one")
        await create("bob", "one")
        with pytest.raises(LimitReached, match="5 watches already"):
            await create("eve", "one")
        for watch in first:
            watch.close()
            watch.close()  # twice is once
        await create("eve", "one")
        await create("ann", "one")
        with pytest.raises(ResourceNotFound):  # one that fails does not count
            await files.watches.create("eve", "one", "demo:/x")
        for watch in list(files.watches._held):
            watch.close()
        await create("eve", "one")
        files.close()
        with pytest.raises(LimitReached, match="closed"):
            await create("eve", "one")

    run(story)


def open_descriptors() -> int:
    return len(list(Path("/proc/self/fd").iterdir()))


def test_a_closed_watch_leaves_nothing(tmp_path: Path) -> None:
    async def story() -> None:
        with opened(tmp_path) as (files, workspace, _):
            (workspace / "a" / "b").mkdir(parents=True)
            async with watching(files, workspace):
                pass  # the threads are there now
            before = open_descriptors()
            for _ in range(5):
                async with watching(files, workspace, recursive=True) as ear:
                    assert open_descriptors() == before + 1
                    (workspace / "a" / "file").touch()
                    await ear.hears(("a/file", "added"))
                    (workspace / "a" / "file").unlink()
                    await ear.hears(("a/file", "deleted"))
                assert await ear.ended() is None
            assert open_descriptors() == before
            assert files.watches._owners == {}

    run(story)


def test_closing_ends_all_watches_whatever_they_do(tmp_path: Path) -> None:
    async def story() -> None:
        with opened(tmp_path) as (files, workspace, _):
            for number in range(2_000):
                (workspace / f"{number}").touch()
            watches = [await files.watches.create(None, "client", uri_of(workspace)) for _ in range(20)]
            ears = [Ear(watch, workspace) for watch in watches]
            for watch in watches:
                watch.tree.mark_everything()
            await asyncio.sleep(0.06)  # some look, and some wait for a thread
            files.close()
            async with asyncio.timeout(5):
                assert {await ear.ended() for ear in ears} == {None}

    run(story)


def test_who_stops_reading_for_a_while_misses_nothing(tmp_path: Path) -> None:
    async def story() -> None:
        with opened(tmp_path) as (files, workspace, _):
            watch = await files.watches.create(None, "client", uri_of(workspace), recursive=True)
            told: set[str] = set()
            for number in range(40):
                (workspace / f"{number}").touch()
                try:
                    async with asyncio.timeout(random.uniform(0, 0.3)):  # noqa: S311
                        told |= {change["uri"] for change in await anext(watch)}
                except TimeoutError:
                    continue
            async with asyncio.timeout(5):
                while len(told) < 40:
                    told |= {change["uri"] for change in await anext(watch)}
            assert told == {uri_of(workspace / f"{number}") for number in range(40)}
            watch.close()
            with pytest.raises(StopAsyncIteration):
                await anext(watch)

    run(story)


def test_marks_stay_few() -> None:
    marks: Marks[int] = Marks()
    for number in range(100_000):
        marks.add(0, f"{number}", is_written=False)
    assert marks.take() == {0: None}
    for number in range(100_000):
        marks.add(number % 900, f"{number}", is_written=False)
    taken = marks.take()
    assert taken is not None
    assert len(taken) == 900
    assert sum(len(names or ()) for names in taken.values()) <= 4_000
    for number in range(100_000):
        marks.add(number, "name", is_written=False)
    assert marks.take() is None
    marks.add(1, "name", is_written=True)
    marks.add(1, "name", is_written=False)
    assert marks.take() == {1: {"name": True}}


def test_what_happens_while_nobody_reads_is_added_up(tmp_path: Path) -> None:
    async def story() -> None:
        with opened(tmp_path) as (files, workspace, _):
            watch = await files.watches.create(None, "client", uri_of(workspace), recursive=True)
            (workspace / "kept").touch()
            for number in range(3_000):
                (workspace / f"{number}").touch()
                (workspace / f"{number}").unlink()
            await asyncio.sleep(0.3)
            ear = Ear(watch, workspace)
            await ear.hears(("kept", "added"))
            await ear.stop()

    run(story)


def test_without_watches_of_the_system_everything_is_looked_at(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(watch_module, "POLL_SECONDS", 0.05)

    async def story() -> None:
        with opened(tmp_path) as (files, workspace, _):
            (workspace / "a" / "b").mkdir(parents=True)
            async with watching(files, workspace, recursive=True) as ear:
                notifier = files.watches._owners[None].notifier
                assert notifier is not None
                notifier.close()  # it takes no more folders, as the system does when there are too many
                (workspace / "c").mkdir()
                ear.watch.tree.mark_everything()
                await ear.hears(("c", "added"))
                assert ear.watch.tree.is_polled
                (workspace / "a" / "b" / "file").touch()
                await ear.hears(("a/b/file", "added"))

    run(story)


def test_a_look_that_fails_is_repeated_and_nothing_is_lost(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(watch_module, "RETRY_SECONDS", 0.05)

    async def story() -> None:
        with opened(tmp_path) as (files, workspace, _):
            (workspace / "a" / "b").mkdir(parents=True)
            async with watching(files, workspace, recursive=True) as ear:
                (workspace / "a" / "b" / "first").touch()
                await ear.hears(("a/b/first", "added"))
                soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
                used = os.dup(0)
                os.close(used)
                (workspace / "one").touch()
                (workspace / "a" / "b" / "two").touch()
                # Enough to walk to the top, and not for what is in it.
                resource.setrlimit(resource.RLIMIT_NOFILE, (used + len(workspace.parts) + 1, hard))
                try:
                    await ear.hears_nothing()
                finally:
                    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
                await ear.hears(("one", "added"), ("a/b/two", "added"))

    run(story)
