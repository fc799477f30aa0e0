"""The running program of an agent: one for all of its sessions, started when it is needed.

One that has died is started anew. One that does not stop when it is told to is retired: new turns get
another, and it is ended, with all that it started, as soon as nobody else is in the middle of a turn with it.
One that nobody has used for a while leaves, if it can take up its sessions later.
"""

import asyncio
import logging
from collections import Counter
from collections.abc import Coroutine, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from agenthost.agents.acp.peer import Peer
from agenthost.host.programs.command import Command

__all__ = ["Peers"]

log = logging.getLogger("agenthost.acp")


class Peers:
    """The program of one agent."""

    def __init__(self, name: str, command: Command, cwd: Path, idle_seconds: float) -> None:
        self._name = name
        self._command = command
        self._cwd = cwd
        self._idle_seconds = idle_seconds
        self._current: Peer | None = None
        self._users: Counter[Peer] = Counter()
        self._retired: set[Peer] = set()
        self._starting = asyncio.Lock()
        self._timer: asyncio.TimerHandle | None = None
        self._tasks: set[asyncio.Task[None]] = set()

    async def get(self) -> Peer:
        """Give the running program, or start it.

        Raises:
            AgentUnavailable: it cannot be started.
        """
        async with self._starting:
            if self._current is not None and self._current.is_over:
                self._do(self._current.end())
                self._current = None
            if self._current is None:
                self._current = await Peer.start(self._name, self._command, self._cwd)
            return self._current

    @contextmanager
    def used(self, peer: Peer) -> Iterator[None]:
        """Use it for a turn."""
        self._users[peer] += 1
        if self._timer is not None:
            self._timer.cancel()
        try:
            yield
        finally:
            self._users[peer] -= 1
            if not self._users[peer]:
                self._unused(peer)

    def _unused(self, peer: Peer) -> None:
        del self._users[peer]
        if peer in self._retired:
            self._retired.discard(peer)
            self._do(peer.end())
        elif peer is self._current and peer.can_resume:
            self._timer = asyncio.get_running_loop().call_later(self._idle_seconds, self._rest, peer)

    def _rest(self, peer: Peer) -> None:
        if peer is self._current and not self._users[peer]:
            log.info("%s was not used for a while, and may leave", self._name)
            self._current = None
            self._do(peer.leave())

    def retire(self, peer: Peer) -> None:
        """Use it no more: it does not stop when it is told to."""
        log.warning("%s did not stop when it was told to, and is ended", self._name)
        if self._current is peer:
            self._current = None
        if self._users[peer]:
            self._retired.add(peer)
        else:
            self._do(peer.end())

    def _do(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def close(self) -> None:
        """End all of them."""
        if self._timer is not None:
            self._timer.cancel()
        for peer in {*self._users, *self._retired} - {self._current}:
            self._do(peer.end())
        if self._current is not None:
            self._do(self._current.leave())
        if self._tasks:
            await asyncio.wait(self._tasks)
