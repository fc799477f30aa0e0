"""A WebSocket that reads plain frames itself: a host sends very many of them, small, whole and unmasked.

For each frame the library runs its whole machinery, which costs several times what reading the message in it
does. So plain text frames are cut out of the stream here, and all others are left to the library, each whole:
pings, pongs, the end. At the first frame that is anything else (a fragment, binary, wrong) the library takes
the stream over, for as long as the connection lasts, so that no frame overtakes another.
"""

import asyncio
import logging
from collections import deque
from collections.abc import Callable
from typing import Any, Final

from websockets.asyncio.client import ClientConnection
from websockets.protocol import State

__all__ = ["LARGEST_FRAME", "QuickConnection"]

log = logging.getLogger("agenthost.client")

LARGEST_FRAME = 256 * 1024 * 1024
"""How large a frame of the host may be: a replay is one frame, and so is a long session."""

TEXT: Final = 0x81
CONTROL = frozenset({0x88, 0x89, 0x8A})
"""The first bytes of a whole text frame, and of the frames that say something of the connection."""


class QuickConnection(ClientConnection):
    """The library's connection, with a short cut for text.

    Attributes:
        sink: takes messages the moment they come; without one, they wait in `messages`.
        is_slow: whether the library reads the stream, so that messages come by `recv`.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.messages: deque[bytes] = deque()
        self.sink: Callable[[bytes], None] | None = None
        self.is_slow = False
        self.is_lost = False
        self.news = asyncio.Event()
        self._rest = bytearray()
        self._needed = 2

    def data_received(self, data: bytes) -> None:
        """Take bytes from the network."""
        if self.is_slow:
            super().data_received(data)
        elif self.state is State.CONNECTING:
            super().data_received(data)
            # A host that speaks before it is spoken to may have sent a part of a frame along.
            self.is_slow = self.state is not State.CONNECTING and not data.endswith(b"\r\n\r\n")
        elif len(self._rest) + len(data) < self._needed:
            self._rest += data
        else:
            whole = bytes(self._rest) + data if self._rest else data
            self._rest.clear()
            self._split(whole)

    def connection_lost(self, exc: Exception | None) -> None:
        """Note that the connection is over."""
        super().connection_lost(exc)
        self.is_lost = True
        self.news.set()

    def _split(self, data: bytes) -> None:
        """Take whole frames off the beginning; what is left is kept until there is more."""
        start, end = 0, len(data)
        self._needed = 2
        while end - start >= 2:
            first, length, head = data[start], data[start + 1], 2
            if length >= 126:
                head = 4 if length == 126 else 10
                if end - start < head:
                    self._needed = head
                    break
                length = int.from_bytes(data[start + 2 : start + head], "big") if length <= 127 else -1
            if not 0 <= length <= LARGEST_FRAME or not (first == TEXT or first in CONTROL):
                self._slow_down(data[start:])
                return
            stop = start + head + length
            if stop > end:
                self._needed = stop - start
                break
            if first == TEXT:
                self._deliver(data[start + head : stop])
            else:
                super().data_received(data[start:stop])
            start = stop
        self._rest += data[start:]

    def _deliver(self, message: bytes) -> None:
        if self.sink is None:
            self.messages.append(message)
            self.news.set()
            return
        try:
            self.sink(message)
        except Exception:
            log.exception("a message of the host could not be taken")

    def _slow_down(self, data: bytes) -> None:
        self.is_slow = True
        self.news.set()
        super().data_received(data)
