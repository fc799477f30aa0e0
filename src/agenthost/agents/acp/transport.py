"""The stdio transport of ACP: JSON-RPC messages, one per line. Other lines, such as a banner, are logged.

Session updates are delivered at once and in order, before the next line is read. So when the response that
ends a turn arrives, all updates of the turn have been handled. Requests and responses go to the library.
"""

import logging
from collections.abc import Awaitable, Callable
from typing import Any

from agenthost.errors import NotJson, TooLarge
from agenthost.host.programs.process import Program
from agenthost.wire.json import MAX_GIVEN_DEPTH, JsonObject, decode_json, encode_json

__all__ = ["REQUEST_PERMISSION", "SESSION_UPDATE", "LineTransport"]

log = logging.getLogger("agenthost.acp")

SESSION_UPDATE = "session/update"
REQUEST_PERMISSION = "session/request_permission"

DRAIN_EVERY = 64
"""Every so many messages, other tasks may run."""


class LineTransport:
    """Carries messages between the library and a program.

    `on_message` is called with updates and with permission requests as they arrive: a request has its place
    in the order of updates, although it is answered later. `drain` is awaited every few messages.
    """

    def __init__(
        self, program: Program, on_message: Callable[[str, Any], None], drain: Callable[[], Awaitable[None]]
    ) -> None:
        self._program = program
        self._on_message = on_message
        self._drain = drain
        self._count = 0

    async def send(self, message: JsonObject) -> None:
        """Send a message. A response to a program that has ended is dropped.

        Raises:
            ConnectionError: the program has ended.
        """
        try:
            await self._program.write_line(encode_json(message))
        except (ConnectionError, RuntimeError):
            if "method" in message:
                raise ConnectionResetError(f"{self._program.name} has ended") from None

    async def receive(self) -> JsonObject | None:
        """Return the next request or response; `None` at the end of the stream."""
        while (line := await self._line()) is not None:
            self._count += 1
            if self._count % DRAIN_EVERY == 0:
                await self._drain()
            message = self._message(line)
            if message is None:
                continue
            method = message.get("method")
            if method in (SESSION_UPDATE, REQUEST_PERMISSION):
                self._deliver(method, message.get("params"))
            if method != SESSION_UPDATE:
                return message
        return None

    async def _line(self) -> bytes | None:
        try:
            return await self._program.read_line()
        except TooLarge as error:
            log.error("stopped reading from %s: %s", self._program.name, error)  # noqa: TRY400 - no trace
            return None

    def _message(self, line: bytes) -> JsonObject | None:
        try:
            message = decode_json(line, MAX_GIVEN_DEPTH)
        except NotJson:
            message = None
        if type(message) is dict and ("method" in message or "id" in message):
            return message
        if text := line.decode(errors="replace").strip():
            log.info("%s printed a line that is not a message: %s", self._program.name, text[:200])
        return None

    def _deliver(self, method: str, params: Any) -> None:
        try:
            self._on_message(method, params)
        except Exception:  # one bad message must not end the connection
            log.exception("a message from %s could not be handled", self._program.name)

    async def close(self) -> None:
        """Do nothing: `Peer` started the program and ends it."""
