"""The wire log: every message in and out, as JSON lines, for debugging.

Tokens, declared secrets of agents and known secrets are masked, and only its owner can read the file. But it
contains what was said in sessions.
"""

import logging
import os
import re
import time
from collections.abc import Callable, Collection
from pathlib import Path
from typing import Any, Literal

from agenthost.edges.ahp.transport import Transport
from agenthost.errors import NotJson
from agenthost.host.state.redaction import SECRET_KEYS, redact
from agenthost.logs import MASK, masked
from agenthost.wire.json import decode_json, encode_json

__all__ = ["WireLog"]

log = logging.getLogger("agenthost.ahp")


class WireLog:
    """A file that messages are appended to. `secrets` returns the names of secrets, in lower case."""

    def __init__(self, path: Path, secrets: Callable[[], Collection[str]] = tuple) -> None:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        self._file = os.fdopen(descriptor, "ab", buffering=0)
        # A file that exists keeps its mode when it is opened.
        os.fchmod(descriptor, 0o600)
        self._connections = 0
        self._secrets = secrets

    def wrap(self, transport: Transport) -> Transport:
        """Return a transport that also logs every message."""
        self._connections += 1
        return _Logged(transport, self, self._connections)

    def note(self, connection: int, direction: Literal["in", "out"], text: str | bytes) -> None:
        """Log a message."""
        line: dict[str, Any] = {"time": time.time(), "connection": connection, "direction": direction}
        try:
            line["message"] = redact(decode_json(text), self._secrets())
        except NotJson:
            plain = text if isinstance(text, str) else text.decode(errors="replace")
            line["text"] = _masked_text(plain, self._secrets())
        try:
            self._file.write(encode_json(line) + b"\n")
        except OSError as error:
            # Not a reason to end the connection.
            log.warning("the wire log cannot be written: %s", error.strerror)

    def close(self) -> None:
        """Close the file."""
        self._file.close()


def _masked_text(text: str, names: Collection[str]) -> str:
    """Mask text that is not JSON: known secrets, and values that follow the name of a secret."""
    known = "|".join(map(re.escape, sorted({*SECRET_KEYS, *names})))
    follows = re.compile(rf'(?i)("(?:{known})"\s*:\s*")(?:[^"\\]|\\.)*')
    return follows.sub(rf"\g<1>{MASK}", masked(text))


class _Logged:
    """A transport that logs every message."""

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
