"""The running program of an agent: one process for all of its sessions, started on demand.

A program that has died is started again. One that ignores a cancel is retired: new turns get another process,
and the old one is killed, with its children, once no other turn uses it. A program that has been idle for a
while is stopped, if it can resume its sessions later.
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

__all__ = ["PeerPool"]

log = logging.getLogger("agenthost.acp")


class PeerPool:
    """The processes of one agent: the current one, and retired ones that are still in use."""

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
        """Return the running program. Start it if there is none.

        Raises:
            AgentUnavailable: it cannot be started.
        """
        async with self._starting:
            if self._current is not None and self._current.is_over:
                self._spawn(self._current.end())
                self._current = None
            if self._current is None:
                self._current = await Peer.start(self._name, self._command, self._cwd)
            return self._current

    @contextmanager
    def in_use(self, peer: Peer) -> Iterator[None]:
        """Mark a program as used by a turn."""
        self._users[peer] += 1
        if self._timer is not None:
            self._timer.cancel()
        try:
            yield
        finally:
            self._users[peer] -= 1
            if not self._users[peer]:
                self._on_unused(peer)

    def _on_unused(self, peer: Peer) -> None:
        del self._users[peer]
        if peer in self._retired:
            self._retired.discard(peer)
            self._spawn(peer.end())
        elif peer is self._current and peer.can_resume:
            self._timer = asyncio.get_running_loop().call_later(self._idle_seconds, self._stop_idle, peer)

    def _stop_idle(self, peer: Peer) -> None:
        if peer is self._current and not self._users[peer]:
            log.info("%s has been idle for a while and is stopped", self._name)
            self._current = None
            self._spawn(peer.leave())

    def retire(self, peer: Peer) -> None:
        """Stop using a program that ignores a cancel."""
        log.warning("%s did not stop when told to, and is killed", self._name)
        if self._current is peer:
            self._current = None
        if self._users[peer]:
            self._retired.add(peer)
        else:
            self._spawn(peer.end())

    def _spawn(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def close(self) -> None:
        """End all processes."""
        if self._timer is not None:
            self._timer.cancel()
        for peer in {*self._users, *self._retired} - {self._current}:
            self._spawn(peer.end())
        if self._current is not None:
            self._spawn(self._current.leave())
        if self._tasks:
            await asyncio.wait(self._tasks)
