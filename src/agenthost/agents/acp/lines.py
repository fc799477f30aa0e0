"""Lines: JSON-RPC messages of a program, one a line. What is none, such as a banner, is passed over.

News of sessions is handed on at once and in order, before anything that follows it is looked at: so all that
was said in a turn is there when its end is. Requests and answers go to the library's connection.
"""

import logging
from collections.abc import Awaitable, Callable
from typing import Any

from agenthost.errors import NotJson, TooLarge
from agenthost.host.programs.process import Program
from agenthost.wire.json import MAX_GIVEN_DEPTH, JsonObject, decode_json, encode_json

__all__ = ["PERMISSION", "UPDATE", "Lines"]

log = logging.getLogger("agenthost.acp")

UPDATE = "session/update"
PERMISSION = "session/request_permission"

BREATH = 64
"""After so many messages without a pause others may run."""


class Lines:
    """The way of messages between the library and a program.

    `hear` is told of news, and of requests for permission as they come in: they have their place among the
    news, though they are answered later. `breathe` is awaited now and then.
    """

    def __init__(
        self, program: Program, hear: Callable[[str, Any], None], breathe: Callable[[], Awaitable[None]]
    ) -> None:
        self._program = program
        self._hear = hear
        self._breathe = breathe
        self._count = 0

    async def send(self, message: JsonObject) -> None:
        """Send a message. An answer that nobody is there to read is dropped.

        Raises:
            ConnectionError: the program has ended.
        """
        try:
            await self._program.write_line(encode_json(message))
        except (ConnectionError, RuntimeError):
            if "method" in message:
                raise ConnectionResetError(f"{self._program.name} has ended") from None

    async def receive(self) -> JsonObject | None:
        """Give the next request or answer; `None` once there are no more."""
        while (line := await self._line()) is not None:
            self._count += 1
            if self._count % BREATH == 0:
                await self._breathe()
            message = self._message(line)
            if message is None:
                continue
            method = message.get("method")
            if method in (UPDATE, PERMISSION):
                self._take(method, message.get("params"))
            if method != UPDATE:
                return message
        return None

    async def _line(self) -> bytes | None:
        try:
            return await self._program.read_line()
        except TooLarge as error:
            log.error("%s is not listened to any more: %s", self._program.name, error)  # noqa: TRY400 - no trace
            return None

    def _message(self, line: bytes) -> JsonObject | None:
        try:
            message = decode_json(line, MAX_GIVEN_DEPTH)
        except NotJson:
            message = None
        if type(message) is dict and ("method" in message or "id" in message):
            return message
        if text := line.decode(errors="replace").strip():
            log.info("%s printed what is no message: %s", self._program.name, text[:200])
        return None

    def _take(self, method: str, params: Any) -> None:
        try:
            self._hear(method, params)
        except Exception:  # whatever it says, the connection goes on
            log.exception("what %s says could not be taken", self._program.name)

    async def close(self) -> None:
        """Do nothing: the program is ended by who started it."""
