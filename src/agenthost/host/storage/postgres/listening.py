"""The connection that hears of commits, in their order. It does nothing else.

If it is lost, another one listens, and is told that notices may be missing. A connection that is lost without
a word is noticed by the beat, which knows the newest place of the ledger.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from typing import Any

from agenthost.host.storage.postgres.connections import Connection
from agenthost.host.storage.postgres.notices import parse_notice
from agenthost.host.storage.shared import Committed, NodeNotice

__all__ = ["MISSED", "Listener"]

log = logging.getLogger("agenthost.storage")

MISSED = NodeNotice("missed", 0)
"""Notices may have been lost."""

RETRY_SECONDS = 0.2
MAX_LATE_BEATS = 2
"""For how many beats the newest commit may be unheard of before the connection is given up."""


class Listener:
    """Hears notices. Used on the store's event loop; `hear` is called there."""

    def __init__(
        self,
        connect: Callable[[], Awaitable[Connection]],
        hear: Callable[[Committed | NodeNotice], None],
    ) -> None:
        self._connect = connect
        self._hear = hear
        self._connection: Connection = None
        self._again: asyncio.Task[None] | None = None
        self._channel = ""
        self._place = 0  # the newest that was heard of
        self._late = 0

    async def start(self, channel: str) -> None:
        """Begin to listen. Everything that is committed after this returns is heard of."""
        self._channel = channel
        await self._listen()

    async def _listen(self) -> None:
        connection = await self._connect()
        try:
            await connection.add_listener(self._channel, self._told)
        except BaseException:
            connection.terminate()
            raise
        self._connection = connection
        connection.add_termination_listener(self._lost)
        if connection.is_closed():  # before anybody was told
            self._lost(connection)

    def _told(self, _connection: object, _process: int, _channel: str, text: Any) -> None:
        try:
            notice = parse_notice(text)
        except ValueError:
            log.warning("a notice is not one of this version: %.200r", text)
            return
        if isinstance(notice, Committed):
            self._place, self._late = max(self._place, notice.place), 0
        self._hear(notice)

    def check(self, place: int) -> None:
        """Listen on a new connection if this place of the ledger was not heard of for a while."""
        self._late = self._late + 1 if place > self._place else 0
        if self._late > MAX_LATE_BEATS and self._connection is not None:
            self._late, self._place = 0, place
            lost = self._connection
            lost.terminate()
            self._lost(lost)  # it does not tell if it was closed already

    def _lost(self, connection: object) -> None:
        if connection is self._connection:
            self._connection = None
            self._again = asyncio.get_running_loop().create_task(self._listen_again())

    async def _listen_again(self) -> None:
        while True:
            try:
                await self._listen()
                break
            except Exception as error:  # whatever it is, the next try is with a new connection
                log.debug("cannot listen: %s", error)
                await asyncio.sleep(RETRY_SECONDS)
        self._hear(MISSED)

    async def close(self) -> None:
        """Listen no more."""
        connection, self._connection = self._connection, None
        if self._again is not None:
            self._again.cancel()
            await asyncio.gather(self._again, return_exceptions=True)
        for one in (connection, self._connection):  # it may have come while this was waited for
            if one is not None:
                one.terminate()
        self._connection = None
