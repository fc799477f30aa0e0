"""Faults of the disk in the middle of turns: no room, a file that cannot grow, a lock of another program."""

import asyncio
import resource
import sqlite3
import sys
from asyncio.subprocess import PIPE
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

from agenthost.errors import StorageError
from agenthost.host.host import Host
from agenthost.host.sessions.new_session import NewSession
from agenthost.host.storage.sqlite import FILE

Report: TypeAlias = Callable[..., None]

# Holds the lock until it is told, or until nobody is left to tell it.
_HOLD = """
import sqlite3, sys
connection = sqlite3.connect(sys.argv[1], isolation_level=None, timeout=20)
connection.execute("BEGIN IMMEDIATE")
print("held", flush=True)
sys.stdin.readline()
"""


@dataclass(frozen=True, slots=True)
class Fault:
    """What goes wrong (`full`, `limit` or `lock`), after how many seconds, and for how long."""

    kind: str
    after: float
    seconds: float


async def suffer(host: Host, fault: Fault, report: Report) -> None:
    """Let it happen, check that it is told and that new work is refused, and let it be over."""
    await asyncio.sleep(fault.after)
    await _FAULTS[fault.kind](host, fault, report)


async def _wait(is_so: Callable[[], bool]) -> None:
    """Look again and again: the host has no reason to tell anybody."""
    async with asyncio.timeout(30):
        while not is_so():  # noqa: ASYNC110
            await asyncio.sleep(0.005)


async def _told(host: Host, report: Report, seconds: float) -> None:
    """Wait until the host knows; then nobody can begin something that could not be kept."""
    journal = host.parts.engine.journal
    await _wait(lambda: journal.trouble is not None)
    report("trouble", str(journal.trouble))
    line = host.parts.engine.line
    shown = line.shown_seq
    try:
        await host.parts.lifecycle.create(NewSession(agent="talker"))
    except StorageError as error:
        report("told", str(error))
    await asyncio.sleep(seconds)
    if line.shown_seq != shown:
        raise AssertionError("something was shown while nothing could be written")


async def _passed(host: Host, report: Report) -> None:
    await _wait(lambda: host.parts.engine.journal.trouble is None)
    report("over")


def _writer(host: Host) -> sqlite3.Connection:
    storage: Any = host.parts.engine.storage
    writer: sqlite3.Connection = storage._writer
    return writer


async def _full(host: Host, fault: Fault, report: Report) -> None:
    """Let the database have no more pages, which is what SQLite says on a full disk."""

    def limit() -> None:
        pages = _writer(host).execute("PRAGMA page_count").fetchone()[0]
        _writer(host).execute(f"PRAGMA max_page_count = {pages}")

    await host.parts.engine.journal.in_turn(limit)
    await _told(host, report, fault.seconds)
    await host.parts.engine.journal.in_turn(_writer(host).execute, "PRAGMA max_page_count = 1000000000")
    await _passed(host, report)


async def _limit(host: Host, fault: Fault, report: Report) -> None:
    """Let no file of this process grow any more."""
    _, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    assert host.data is not None
    size = (host.data / f"{FILE}-wal").stat().st_size
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    await _told(host, report, fault.seconds)
    resource.setrlimit(resource.RLIMIT_FSIZE, (hard, hard))
    await _passed(host, report)


async def _lock(host: Host, fault: Fault, report: Report) -> None:
    """Let another process hold the lock; the host waits for it less long than usual."""
    await host.parts.engine.journal.in_turn(_writer(host).execute, "PRAGMA busy_timeout = 100")
    assert host.data is not None
    other = await asyncio.create_subprocess_exec(
        sys.executable, "-c", _HOLD, str(host.data / FILE), stdin=PIPE, stdout=PIPE
    )
    assert other.stdout
    await other.stdout.readline()
    await _told(host, report, fault.seconds)
    await other.communicate(b"enough\n")
    await _passed(host, report)


_FAULTS: dict[str, Callable[[Host, Fault, Report], Awaitable[None]]] = {
    "full": _full,
    "limit": _limit,
    "lock": _lock,
}
