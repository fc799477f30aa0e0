"""Watches on a real disk, for the tests of `host/files/watches`."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

from agenthost.errors import HostError
from agenthost.host.files.files import Files
from agenthost.host.files.uris import parse_uri, uri_of
from agenthost.host.files.watches.watch import ResourceWatch

QUIET = 0.4
"""Longer than it takes until a change is told, on a machine that is not busy."""

PATIENCE = 18
"""How long to wait on one that is."""


class Ear:
    """Reads a watch, and keeps what it tells: by the path below the top, the changes in order."""

    def __init__(self, watch: ResourceWatch, top: Path) -> None:
        self.watch = watch
        self.heard: list[tuple[str, str]] = []
        self.batches: list[int] = []
        self.end: BaseException | None = None
        self._top = top
        self._news = asyncio.Event()
        self._task = asyncio.create_task(self._read())

    async def _read(self) -> None:
        try:
            async for batch in self.watch:
                self.batches.append(len(batch))
                self.heard += [(self._name(change["uri"]), change["type"]) for change in batch]
                self._news.set()
        except HostError as error:
            self.end = error
        finally:
            self._news.set()

    def _name(self, uri: str) -> str:
        path = Path("/", *parse_uri(uri).path)
        assert uri == uri_of(path)
        return "" if path == self._top else str(path.relative_to(self._top))

    async def hears(self, *wanted: tuple[str, str]) -> None:
        """Wait until exactly these were told since the last call, in any order."""
        await self.hears_also(*wanted)
        assert sorted(self.heard) == sorted(wanted)
        self.heard.clear()

    async def hears_also(self, *wanted: tuple[str, str]) -> None:
        """Wait until these were told, whatever else was."""
        try:
            async with asyncio.timeout(PATIENCE):
                while not set(wanted) <= set(self.heard):
                    await self._news.wait()
                    self._news.clear()
        except TimeoutError:
            raise AssertionError(f"heard {self.heard!r:.1000}, not {wanted!r:.1000}") from None

    async def hears_nothing(self, seconds: float = QUIET) -> None:
        """Wait for a while, in which nothing is told."""
        await asyncio.sleep(seconds)
        assert self.heard == []

    async def ended(self) -> BaseException | None:
        """Wait until the watch has ended. Return the error that ended it."""
        await self._task
        return self.end

    async def stop(self) -> None:
        """Stop reading, and close the watch."""
        self.watch.close()
        with suppress(asyncio.CancelledError):
            await self._task


@asynccontextmanager
async def watching(files: Files, top: Path, owner: str | None = None, **over: Any) -> AsyncIterator[Ear]:
    """Watch a file or folder."""
    ear = Ear(await files.watches.create(owner, "client", uri_of(top), **over), top)
    try:
        yield ear
    finally:
        await ear.stop()
