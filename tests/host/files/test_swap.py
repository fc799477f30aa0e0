"""The swap: somebody exchanges a folder and a link while it is used, as fast as a thread can."""

import asyncio
import threading
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager, suppress
from itertools import count
from pathlib import Path

import pytest

from agenthost.errors import ResourceDenied, ResourceError, ResourceNotFound
from agenthost.host.files.params import WriteMode, WriteParams
from agenthost.host.files.uris import uri_of
from host.files.filing import OUTSIDE, opened
from hosting import run


@contextmanager
def swapping(workspace: Path, outside: Path) -> Iterator[None]:
    """Let `workspace/d` be a folder and a link to the outside in turn, as fast as a thread can."""
    real, link, name = workspace / "real", workspace / "link", workspace / "d"
    real.mkdir()
    link.symlink_to(outside)
    ended = threading.Event()
    spare = (workspace / f"spare{number}" for number in count())

    def swap() -> None:
        while not ended.is_set():
            for one in (real, link):
                try:
                    one.rename(name)
                except OSError:  # a folder was made there in between
                    name.rename(next(spare))
                    continue
                name.rename(one)

    thread = threading.Thread(target=swap)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()


TRIES = 150


@pytest.mark.parametrize(
    "deed",
    [
        *["read", "list", "resolve", "write", "append", "insert", "mkdir", "delete"],
        *["copy from", "copy to", "copy folder to", "move to", "move from"],
    ],
)
def test_a_swap_of_a_folder_and_a_link_never_leads_outside(tmp_path: Path, deed: str) -> None:
    async def story() -> None:
        with opened(tmp_path) as (files, workspace, outside), swapping(workspace, outside):
            (workspace / "source").write_text("inside")
            d = uri_of(workspace / "d")
            source, copied = uri_of(workspace / "source"), uri_of(workspace / "copied")

            async def read() -> None:
                got = await files.read(None, {"uri": f"{d}/file"})
                assert got["data"] == "inside"

            async def listed() -> None:
                await files.write(None, {"uri": f"{d}/name", "data": "", "encoding": "utf-8"})
                got = await files.list(None, {"uri": d})
                assert "only-outside" not in str(got)

            async def resolved() -> None:
                got = await files.resolve(None, {"uri": f"{d}/file"})
                assert got.get("size") == len("inside")

            def written(mode: WriteMode) -> Awaitable[None]:
                data: WriteParams = {"uri": f"{d}/file", "data": "inside", "encoding": "utf-8"}
                return files.write(None, {**data, "mode": mode})

            deeds: dict[str, Callable[[], Awaitable[object]]] = {
                "read": read,
                "list": listed,
                "resolve": resolved,
                "append": lambda: written("append"),
                "insert": lambda: written("insert"),
                "mkdir": lambda: files.mkdir(None, {"uri": f"{d}/new/folder"}),
                "copy folder to": lambda: files.copy(
                    None, {"source": uri_of(workspace / "tree"), "destination": f"{d}/new"}
                ),
                "write": lambda: files.write(
                    None, {"uri": f"{d}/file", "data": "inside", "encoding": "utf-8"}
                ),
                "delete": lambda: files.delete(None, {"uri": f"{d}/file", "recursive": True}),
                "copy from": lambda: files.copy(None, {"source": f"{d}/file", "destination": copied}),
                "copy to": lambda: files.copy(None, {"source": source, "destination": f"{d}/file"}),
                "move from": lambda: files.move(None, {"source": f"{d}/file", "destination": copied}),
                "move to": lambda: files.move(None, {"source": source, "destination": f"{d}/file"}),
            }
            (outside / "only-outside").touch()
            (workspace / "tree" / "deep").mkdir(parents=True)
            for _ in range(TRIES):
                with suppress(ResourceError):
                    await files.write(None, {"uri": f"{d}/file", "data": "inside", "encoding": "utf-8"})
                with suppress(ResourceError):
                    await deeds[deed]()
                (workspace / "source").write_text("inside")
                copy = workspace / "copied"
                assert not copy.exists() or copy.read_text() == "inside"
            assert (outside / "file").read_text() == OUTSIDE
            assert sorted(path.name for path in outside.iterdir()) == ["file", "only-outside"]

    run(story)


def test_a_swap_leads_to_both_success_and_denial(tmp_path: Path) -> None:
    """Without both, the test above would prove nothing."""

    async def story() -> None:
        with opened(tmp_path) as (files, workspace, outside):
            for name in ("d", "other"):
                (workspace / name).mkdir()
            (outside / "file").unlink()
            met: set[str] = set()
            with swapping(workspace / "other", outside):
                uri = uri_of(workspace / "other/d/file")
                while met != {"written", "denied", "missing"}:
                    try:
                        await files.write(None, {"uri": uri, "data": "inside", "encoding": "utf-8"})
                        met.add("written")
                    except ResourceDenied:
                        met.add("denied")
                    except ResourceNotFound:
                        met.add("missing")
                    await asyncio.sleep(0)
            assert list(outside.iterdir()) == []

    run(story)
