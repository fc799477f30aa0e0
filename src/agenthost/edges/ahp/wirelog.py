"""The wire log: every message in and out, as JSON lines, for people who want to see what is said.

Tokens are masked and the file is readable by its owner only; but it holds what was said in sessions.
"""

import logging
import os
import time
from pathlib import Path
from typing import Any, Literal

from agenthost.edges.ahp.transport import Transport
from agenthost.errors import NotJson
from agenthost.wire.json import Json, decode_json, encode_json

__all__ = ["WireLog"]

log = logging.getLogger("agenthost.ahp")

MASK = "***"
SECRET_KEYS = {"token", "authorization", "password", "secret", "tkn"}


class WireLog:
    """A file that messages are appended to."""

    def __init__(self, path: Path) -> None:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        self._file = os.fdopen(descriptor, "ab", buffering=0)
        os.fchmod(descriptor, 0o600)
        self._connections = 0

    def wrap(self, transport: Transport) -> Transport:
        """Give a transport that does the same, and writes everything down."""
        self._connections += 1
        return _Logged(transport, self, self._connections)

    def note(self, connection: int, direction: Literal["in", "out"], text: str | bytes) -> None:
        """Write a message down."""
        line: dict[str, Any] = {"time": time.time(), "connection": connection, "direction": direction}
        try:
            line["message"] = masked(decode_json(text))
        except NotJson:
            line["text"] = text if isinstance(text, str) else text.decode(errors="replace")
        try:
            self._file.write(encode_json(line) + b"\n")
        except OSError as error:
            # Nobody is cut off because of it.
            log.warning("the wire log cannot be written: %s", error.strerror)

    def close(self) -> None:
        """Close the file."""
        self._file.close()


def masked(value: Json) -> Json:
    """Give a message without the tokens in it."""
    if type(value) is dict:
        return {
            key: MASK if key.lower() in SECRET_KEYS and type(item) is str else masked(item)
            for key, item in value.items()
        }
    return [masked(item) for item in value] if type(value) is list else value


class _Logged:
    """A transport that writes everything down."""

    def __init__(self, inner: Transport, wire: WireLog, number: int) -> None:
        self._inner = inner
        self._wire = wire
        self._number = number

    async def receive(self) -> str | bytes | None:
        text = await self._inner.receive()
        if text is not None:
            self._wire.note(self._number, "in", text)
        return text

    async def send(self, text: str) -> None:
        self._wire.note(self._number, "out", text)
        await self._inner.send(text)

    async def close(self, code: int, reason: str) -> None:
        await self._inner.close(code, reason)
