"""The line of a node among others: everything is shown in the order in which the store announces commits.

A group of this node is shown when its own notice has come and its commit has returned; what other nodes
wrote, after it was read from the log, if anybody here follows it. So the numbers that a client gets ascend,
whichever nodes wrote what it follows.
"""

import asyncio
import logging
from collections import deque
from collections.abc import Callable, Collection, Iterable, Sequence
from time import monotonic
from typing import Any, Protocol

import msgspec

from agenthost.errors import StorageError, StoreTaken
from agenthost.host.log.line import Line
from agenthost.host.storage.shared import Committed, SharedStorage

__all__ = ["Followers", "SharedLine"]

log = logging.getLogger("agenthost.line")

RETRY_SECONDS = 0.2
READ_AT_ONCE = 256
"""How many commits of other nodes are read together."""


class Followers(Protocol):
    """Those who follow here what other nodes write."""

    def wanted(self, commits: Sequence[Committed]) -> Collection[int]:
        """Return the resources of these commits that are followed."""

    def read(self, commits: Sequence[Committed], wanted: Collection[int]) -> Any:
        """Read what they are about, in a thread."""

    def show(self, found: Any) -> None:
        """Show what was read."""

    def note(self, commit: Committed) -> None:
        """Note what else a commit says, of this node or another. It was shown."""


class _Held(msgspec.Struct):
    """A group of this node that was committed; one without writes has no notice."""

    show: Callable[[int | None], None]
    base: int
    has_notice: bool


class SharedLine(Line):
    """Shows what all nodes have written. Used on the event loop."""

    is_shared = True

    def __init__(self, shown_seq: int, storage: SharedStorage) -> None:
        super().__init__(shown_seq)
        self._storage = storage
        self._followers: Followers | None = None
        self._place = storage.place
        self._heard: deque[Committed] = deque()
        self._own: deque[_Held] = deque()
        self._task: asyncio.Task[None] | None = None
        self._has_gap = False
        self._waiters: list[tuple[int, asyncio.Future[None]]] = []
        self._behind_since: float | None = None

    def start(self, followers: Followers) -> None:
        """Begin to show what is heard of."""
        self._followers = followers
        self._advance()

    def hold(self, show: Callable[[int | None], None], base: int, *, has_notice: bool) -> None:
        """Show a group of this node when it is its turn: `show` is given its base, or `None` for `base`."""
        self._own.append(_Held(show, base, has_notice))
        self._advance()

    def hear(self, commit: Committed) -> None:
        """Take the notice of a commit."""
        self._heard.append(commit)
        self._advance()

    def catch_up(self) -> None:
        """Read the ledger, because notices may have been lost."""
        self._has_gap = True
        self._advance()

    @property
    def lag(self) -> int:
        """How many commits were heard of and not shown yet."""
        return len(self._heard)

    @property
    def lag_seconds(self) -> float:
        """For how long commits that were heard of wait to be shown."""
        return 0.0 if self._behind_since is None else monotonic() - self._behind_since

    async def wait_for(self, seq: int, seconds: float | None = None) -> bool:
        """Wait until this number was shown, for so long at most. Return whether it was."""
        if seq <= self.shown_seq:
            return True
        future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiters.append((seq, future))
        try:
            async with asyncio.timeout(seconds):
                await future
        except TimeoutError:
            return False
        return True

    async def check_ahead(self, seq: int) -> None:
        """Refuse a number that other nodes have shown, and this one has not.

        Raises:
            StorageError: it is one, or the store cannot tell.
        """
        commits = await asyncio.to_thread(self._storage.ledger_after, self._place)
        if commits and self.shown_seq < seq <= commits[-1].last_seq:
            raise StorageError("this node shows what others wrote much too late; try another one")

    def close(self) -> None:
        """Show nothing more."""
        self._followers = None
        if self._task is not None:
            self._task.cancel()

    def _advance(self) -> None:
        """Show as much as can be shown now. What has to be read first is read in a task."""
        if self._task is not None or self._followers is None:
            return
        before = self.shown_seq
        while self._step(self._followers):
            self._behind_since = None
        self._behind_since = (self._behind_since or monotonic()) if self._heard else None
        if self._waiters and self.shown_seq != before:
            self._release()

    def _step(self, followers: Followers) -> bool:
        """Show the next commit. Return whether to go on."""
        if self._own and not self._own[0].has_notice:
            self._own.popleft().show(self.shown_seq)
            return True
        while self._heard and self._heard[0].place <= self._place:
            self._heard.popleft()
        if self._has_gap or (self._heard and self._heard[0].place > self._place + 1):
            self._read(self._fill_gap())
            return False
        if not self._heard:
            return False
        commit = self._heard[0]
        if commit.node == self._storage.node and commit.ordinal:
            return self._show_own(commit, followers)
        commits = self._foreign_ones()
        wanted = followers.wanted(commits)
        if wanted:
            self._read(self._show_foreign(followers, commits, wanted))
            return False
        self._pass(commits, followers)
        return True

    def _show_own(self, commit: Committed, followers: Followers) -> bool:
        if not self._own:
            return False  # the answer to the commit is still under way
        self._heard.popleft()
        self._place = commit.place
        self._own.popleft().show(None)
        self.shown_seq = max(self.shown_seq, commit.last_seq)
        followers.note(commit)
        return True

    def _foreign_ones(self) -> list[Committed]:
        """Return the commits of other nodes that come next."""
        commits: list[Committed] = []
        for commit in self._heard:
            is_own = commit.node == self._storage.node and commit.ordinal
            if is_own or commit.place != self._place + 1 + len(commits) or len(commits) == READ_AT_ONCE:
                break
            commits.append(commit)
        return commits

    def _pass(self, commits: Sequence[Committed], followers: Followers) -> None:
        for _ in commits:
            self._heard.popleft()
        self._place = commits[-1].place
        self.shown_seq = max(self.shown_seq, commits[-1].last_seq)
        for commit in commits:
            followers.note(commit)

    def _read(self, work: Any) -> None:
        self._task = asyncio.create_task(self._finish(work))

    async def _finish(self, work: Any) -> None:
        delay = 0.0
        try:
            await work
        except StoreTaken:
            self._followers = None  # this node has to end: it shows nothing more
        except Exception:  # one commit must not stop all that follow
            log.exception("what other nodes wrote could not be shown")
            delay = RETRY_SECONDS
        finally:
            self._task = None
        if self._waiters:
            self._release()
        if delay:
            asyncio.get_running_loop().call_later(delay, self._advance)
        else:
            self._advance()

    async def _show_foreign(
        self, followers: Followers, commits: Sequence[Committed], wanted: Collection[int]
    ) -> None:
        found = await self._persist(lambda: followers.read(commits, wanted))
        # No await from here on: nobody sees a number whose item was not shown yet.
        self._pass(commits, followers) if found is None else self._show_found(followers, commits, found)

    def _show_found(self, followers: Followers, commits: Sequence[Committed], found: Any) -> None:
        self.shown_seq = max(self.shown_seq, commits[-1].last_seq)
        try:
            followers.show(found)
        finally:
            self._pass(commits, followers)

    async def _fill_gap(self) -> None:
        """Read the commits that were not heard of."""
        self._has_gap = False
        missed = await self._persist(lambda: self._storage.ledger_after(self._place))
        known = {commit.place: commit for commit in self._heard}
        known = {**{commit.place: commit for commit in missed}, **known}
        self._heard = deque(known[place] for place in sorted(known) if place > self._place)
        if self._heard and self._heard[0].place > self._place + 1:
            # The ledger keeps far more than a node can miss; what is left is shown as one.
            log.error("%d commits were missed for good", self._heard[0].place - self._place - 1)
            self._place = self._heard[0].place - 1

    async def _persist(self, read: Callable[[], Any]) -> Any:
        while True:
            try:
                return await asyncio.to_thread(read)
            except StoreTaken:
                raise
            except StorageError as error:
                log.warning("what other nodes wrote cannot be read; will try again: %s", error)
                await asyncio.sleep(RETRY_SECONDS)

    def _release(self) -> None:
        ready: Iterable[asyncio.Future[None]] = [one for seq, one in self._waiters if seq <= self.shown_seq]
        self._waiters = [waiter for waiter in self._waiters if waiter[0] > self.shown_seq]
        for future in ready:
            if not future.done():
                future.set_result(None)
