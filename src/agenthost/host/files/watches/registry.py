"""All watches of a host, with their limits.

Each owner has its own queue of events, so that an owner who writes a lot overflows only that one.
"""

import asyncio
import logging
from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

from agenthost.errors import LimitReached, ResourceNotFound
from agenthost.host.files.globs import PathFilter
from agenthost.host.files.grants import Grants, Owner
from agenthost.host.files.uris import parse_uri, uri_of
from agenthost.host.files.watches.entries import EntryBudget
from agenthost.host.files.watches.notifier import Notifier
from agenthost.host.files.watches.tree import TreeOptions, WatchedTree
from agenthost.host.files.watches.watch import ResourceWatch, WatchInfo
from agenthost.host.limits import Limits

__all__ = ["Watches"]

log = logging.getLogger("agenthost.files")

THREADS = 4


class _OwnerWatches:
    """The watches of one owner: how many each client has, and what they share."""

    def __init__(self, most_entries: int, notifier: Notifier | None) -> None:
        self.clients: Counter[str] = Counter()
        self.budget = EntryBudget(most_entries)
        self.notifier = notifier


class Watches:
    """The watches of all clients. Used on the event loop."""

    def __init__(self, grants: Grants, limits: Limits, *, is_polled: bool = False) -> None:
        """Start without watches. If `is_polled`, events of the system are not used."""
        self._grants = grants
        self._limits = limits
        self._is_polled = is_polled
        self._owners: dict[Owner, _OwnerWatches] = {}
        self._held: set[ResourceWatch] = set()
        self._count = 0
        self._is_closed = False
        self._pool = ThreadPoolExecutor(THREADS, "agenthost-watches")

    async def create(
        self,
        owner: Owner,
        client: str,
        uri: str,
        *,
        recursive: bool = False,
        includes: Sequence[str] | None = None,
        excludes: Sequence[str] = (),
        must_exist: bool = False,
    ) -> ResourceWatch:
        """Watch a file or folder, from now on. Without `must_exist`, it need not exist yet.

        Raises:
            InvalidValue: it is not the URI of a file, or a glob is broken.
            LimitReached: there are too many watches.
            ResourceDenied: it may not be read.
            ResourceNotFound: it does not exist.
            TooMany: there is more in it than may be watched.
        """
        target = parse_uri(uri)
        included = None if includes is None else tuple(includes)
        info = WatchInfo(uri, recursive, included, tuple(excludes))
        paths = PathFilter(target.path, info.includes, info.excludes)
        mine = self._enter(owner, client)
        watch = ResourceWatch(
            info,
            uri_of(target.path),
            tree=partial(_new_tree, TreeOptions(target, paths, recursive), mine),
            jail=partial(self._grants.jail, owner),
            run=self._run,
            closed=partial(self._leave, owner, client),
        )
        self._held.add(watch)
        try:
            await self._run(watch.tree.start, self._grants.jail(owner))
        except BaseException:
            watch.close()
            raise
        if must_exist and watch.tree.is_missing:
            watch.close()
            raise ResourceNotFound(uri)
        return watch

    def close(self) -> None:
        """End all watches."""
        self._is_closed = True
        for watch in list(self._held):
            watch.close()
        self._pool.shutdown(wait=False)  # what still waits there ends at once

    async def _run(self, work: Callable[..., Any], *args: Any) -> None:
        await asyncio.get_running_loop().run_in_executor(self._pool, work, *args)

    def _enter(self, owner: Owner, client: str) -> _OwnerWatches:
        """Count a new watch.

        Raises:
            LimitReached: there are too many.
        """
        limits = self._limits
        mine = self._owners.get(owner)
        if self._is_closed:
            raise LimitReached("the host is being closed")
        _check(self._count, limits.watches, "watches")
        if mine is None:
            mine = self._owners[owner] = _OwnerWatches(limits.watched_entries, self._new_notifier())
        _check(mine.clients.total(), limits.watches_per_owner, "watches of yours")
        _check(mine.clients[client], limits.watches_per_client, "watches of this client")
        mine.clients[client] += 1
        self._count += 1
        return mine

    def _leave(self, owner: Owner, client: str, watch: ResourceWatch) -> None:
        mine = self._owners[owner]
        watch.tree.stop()
        self._held.discard(watch)
        self._count -= 1
        mine.clients -= Counter([client])
        if mine.notifier is not None:
            mine.notifier.on_loss.discard(watch.tree.mark_everything)
        if not mine.clients:
            del self._owners[owner]
            if mine.notifier is not None:
                mine.notifier.close()
        self._pool.submit(watch.tree.close)  # waits for a comparison that is under way

    def _new_notifier(self) -> Notifier | None:
        if self._is_polled:
            return None
        try:
            return Notifier(asyncio.get_running_loop())
        except OSError as error:
            log.info(
                "files are looked at every few seconds, as the system does not tell of changes: %s", error
            )
            return None


def _new_tree(options: TreeOptions, mine: _OwnerWatches, wake: Callable[[], None]) -> WatchedTree:
    tree = WatchedTree(options, mine.budget, mine.notifier, wake)
    if mine.notifier is not None:
        mine.notifier.on_loss.add(tree.mark_everything)
    return tree


def _check(count: int, most: int, what: str) -> None:
    if count >= most:
        raise LimitReached(f"there are {most} {what} already, and no more are allowed")
