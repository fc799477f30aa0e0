"""Fast frames: plain text frames are cut out of the stream before the WebSocket library sees it.

A host sends very many small frames. The library's parser and queue cost more than all the rest of the client
does with such a frame. So a filter stands between the transport and the library's protocol, which asyncio
supports (`transport.set_protocol`). It takes out whole, unmasked text frames and hands everything else on:
the opening handshake, pings, pongs, the close. At the first frame of any other kind (a fragment, binary,
invalid) it steps aside for the rest of the connection, so that no frame overtakes another (HR-T01).
"""

import asyncio
import logging
from collections import deque
from collections.abc import Callable
from typing import Final

from websockets.asyncio.client import ClientConnection

__all__ = ["MAX_FRAME", "FilteredConnection", "FrameFilter"]

log = logging.getLogger("agenthost.client")

MAX_FRAME = 256 * 1024 * 1024
"""How many bytes a frame of the host may have. A replay is one frame, and so is the state of a session."""

TEXT: Final = 0x81
CONTROL = frozenset({0x88, 0x89, 0x8A})
"""The first byte of an unfragmented text frame, and of close, ping and pong frames."""

_HEAD_END = b"\r\n\r\n"


class FrameFilter(asyncio.Protocol):
    """Reads plain text frames itself, and passes everything else to the library.

    Attributes:
        is_active: whether text frames are taken out. If not, messages come by the library's `recv`.
        is_lost: whether the connection is over.
        messages: the messages that nobody has taken yet.
        sink: is called with each message at once; without it they wait in `messages`.
        changed: is set whenever one of the above changes.
    """

    def __init__(self, library: asyncio.Protocol) -> None:
        self.is_active = False
        self.is_lost = False
        self.messages: deque[bytes] = deque()
        self.sink: Callable[[bytes], None] | None = None
        self.changed = asyncio.Event()
        self._library = library
        self._head: bytearray | None = bytearray()  # the host's handshake; None once it is complete
        self._rest = bytearray()
        self._needed = 2

    # Called by the transport

    def data_received(self, data: bytes) -> None:
        """Take bytes from the network."""
        if not self.is_active:
            self._library.data_received(data)
            self._watch_handshake(data)
        elif len(self._rest) + len(data) < self._needed:
            self._rest += data
        else:
            whole = bytes(self._rest) + data if self._rest else data
            self._rest.clear()
            self._split(whole)

    def eof_received(self) -> bool | None:
        """Pass on the end of the stream."""
        return self._library.eof_received()

    def connection_lost(self, exc: Exception | None) -> None:
        """Note that the connection is over."""
        self._library.connection_lost(exc)
        self.is_lost = True
        self.changed.set()

    def pause_writing(self) -> None:
        """Pass on that the transport's buffer is full."""
        self._library.pause_writing()

    def resume_writing(self) -> None:
        """Pass on that the transport's buffer has room again."""
        self._library.resume_writing()

    # Reading

    def _watch_handshake(self, data: bytes) -> None:
        """Become active after the handshake, unless the host has sent part of a frame along with it."""
        if self._head is None:
            return
        self._head += data
        end = self._head.find(_HEAD_END)
        if end >= 0:
            is_switched = self._head.startswith(b"HTTP/1.1 101")
            self.is_active = is_switched and end + len(_HEAD_END) == len(self._head)
            self._head = None

    def _split(self, data: bytes) -> None:
        """Take whole frames off the beginning, and keep the rest until there is more."""
        start, end = 0, len(data)
        self._needed = 2
        while end - start >= 2:
            first, length, head = data[start], data[start + 1], 2
            if length >= 126:  # the length follows in 2 or 8 bytes; above 127 the mask bit is set
                head = 4 if length == 126 else 10
                if end - start < head:
                    self._needed = head
                    break
                length = int.from_bytes(data[start + 2 : start + head], "big") if length <= 127 else -1
            if not 0 <= length <= MAX_FRAME or not (first == TEXT or first in CONTROL):
                self._step_aside(data[start:])
                return
            stop = start + head + length
            if stop > end:
                self._needed = stop - start
                break
            if first == TEXT:
                self._deliver(data[start + head : stop])
            else:
                self._library.data_received(data[start:stop])
            start = stop
        self._rest += data[start:]

    def _deliver(self, message: bytes) -> None:
        if self.sink is None:
            self.messages.append(message)
            self.changed.set()
            return
        try:
            self.sink(message)
        except Exception:
            log.exception("a message of the host could not be handled")

    def _step_aside(self, data: bytes) -> None:
        self.is_active = False
        self.changed.set()
        self._library.data_received(data)


class FilteredConnection(ClientConnection):
    """The library's connection, with a filter in front of it."""

    frames: FrameFilter

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Put the filter between the transport and the library."""
        super().connection_made(transport)
        self.frames = FrameFilter(self)
        transport.set_protocol(self.frames)
