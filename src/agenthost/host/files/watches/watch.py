"""One watch: an async iterator of changes.

Nothing is compared until the reader asks for the next changes. So a slow reader costs nothing: events in the
meantime are only marked, and marks are bounded.
"""

import asyncio
import time
from collections import deque
from collections.abc import Awaitable, Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice

from agenthost.errors import ResourceDenied, ResourceError
from agenthost.host.files.jail import Jail
from agenthost.host.files.params import ChangeType, ResourceChange
from agenthost.host.files.uris import uri_below
from agenthost.host.files.watches.tree import WatchedTree

__all__ = ["ResourceWatch", "WatchInfo"]

MAX_BATCH = 1_000
"""How many changes are reported at once."""

REST_SECONDS = 0.05
"""The least time between an event and a look. The notifier has gathered events already."""

REST_FACTOR = 3
MAX_REST_SECONDS = 5.0
"""A slow comparison is followed by a pause that is this many times longer, up to the maximum."""

RETRY_SECONDS = 1.0
"""The rest after a look that failed."""

TOP_SECONDS = 5.0
"""How often the top is looked at without an event: folders above it may have been moved."""

MISSING_SECONDS = 0.5
"""How often to check whether a missing top exists."""

POLL_SECONDS = 2.0
"""How often everything is compared if there are no events."""


@dataclass(frozen=True, slots=True)
class WatchInfo:
    """What a watch covers, as requested.

    Attributes:
        uri: the file or folder.
        recursive: whether folders in the folder are watched too.
        includes: globs of the only paths that are reported; `None` for all.
        excludes: globs of paths that are not reported.
    """

    uri: str
    recursive: bool = False
    includes: tuple[str, ...] | None = None
    excludes: tuple[str, ...] = ()


class ResourceWatch:
    """A watch. Iterate over it, in one task, for the changes in batches, until it is closed.

    Attributes:
        info: what it covers.
    """

    def __init__(
        self,
        info: WatchInfo,
        top: str,
        *,
        tree: Callable[[Callable[[], None]], WatchedTree],
        jail: Callable[[], Jail],
        run: Callable[..., Awaitable[None]],
        closed: Callable[["ResourceWatch"], None],
    ) -> None:
        """Watch nothing yet.

        `top` is the URI that reported ones begin with. `tree` makes the tree, given what wakes the watch.
        `run` runs a function in a thread. `closed` is called once, when the watch is closed.
        """
        self.info = info
        self._top = top
        self._jail = jail
        self._run = run
        self._when_closed = closed
        self._woken = asyncio.Event()
        self._closed = asyncio.Event()
        self._found: deque[Iterator[tuple[str, ChangeType]]] = deque()
        self._rested = 0.0  # the time when the next look may be
        self.tree = tree(self._woken.set)

    def __aiter__(self) -> "ResourceWatch":
        return self

    async def __anext__(self) -> list[ResourceChange]:
        """Return the next changes, as soon as there are any.

        Raises:
            ResourceDenied: it may no longer be watched; the watch is closed.
            StopAsyncIteration: the watch is closed.
        """
        while not self._closed.is_set():
            if batch := self._take():
                return batch
            await self._wait()
            if not self._closed.is_set():
                await self._look()
        raise StopAsyncIteration

    def close(self) -> None:
        """End the watch. A reader that waits gets no more changes. May be called more than once."""
        if not self._closed.is_set():
            self._closed.set()
            self._woken.set()
            self._when_closed(self)

    async def _wait(self) -> None:
        """Wait until there is something to look at, and the rest after the last look is over."""
        with suppress(TimeoutError):
            async with asyncio.timeout(self._patience()):
                await self._woken.wait()
        with suppress(TimeoutError):
            async with asyncio.timeout(max(REST_SECONDS, self._rested - time.monotonic())):
                await self._closed.wait()
        self._woken.clear()

    def _patience(self) -> float:
        if self.tree.is_missing:
            return MISSING_SECONDS
        return POLL_SECONDS if self.tree.is_polled else TOP_SECONDS

    async def _look(self) -> None:
        start = time.monotonic()
        try:
            await self._run(self._collect, self._jail())
        except ResourceDenied:
            self.close()
            raise
        except ResourceError:
            self._woken.set()  # it could not be compared, so try again
            self._rested = time.monotonic() + RETRY_SECONDS
        else:
            end = time.monotonic()
            self._rested = end + min(REST_FACTOR * (end - start), MAX_REST_SECONDS)

    def _collect(self, jail: Jail) -> None:
        """Compare in a thread. If the reader is cancelled meanwhile, the next one gets the result."""
        self._found.append(iter(self.tree.look(jail).items()))

    def _take(self) -> list[ResourceChange]:
        """Return the next changes; none if there are none."""
        while self._found:
            batch = list(islice(self._found[0], MAX_BATCH))
            if batch:
                return [{"uri": uri_below(self._top, path), "type": kind} for path, kind in batch]
            self._found.popleft()
        return []
