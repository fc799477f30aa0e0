"""Lines: JSON-RPC messages of a program, one a line. What is none, such as a banner, is passed over.

News of sessions is handed on at once and in order, before anything that follows it is looked at: so all that
was said in a turn is there when its end is. Requests and answers go to the library's connection.
"""

import logging
from collections.abc import Callable
from typing import Any

from agenthost.errors import NotJson
from agenthost.host.programs.process import Program
from agenthost.wire.json import JsonObject, decode_json, encode_json

__all__ = ["Lines"]

log = logging.getLogger("agenthost.acp")

UPDATE = "session/update"


class Lines:
    """The way of messages between the library and a program; `hear` is given the news of sessions."""

    def __init__(self, process: Program, hear: Callable[[Any], None]) -> None:
        self._process = process
        self._hear = hear

    async def send(self, message: JsonObject) -> None:
        """Send a message. An answer that nobody is there to read is dropped.

        Raises:
            ConnectionError: the program has ended.
        """
        try:
            await self._process.write_line(encode_json(message))
        except (ConnectionError, RuntimeError):
            if "method" in message:
                raise ConnectionResetError(f"{self._process.name} has ended") from None

    async def receive(self) -> JsonObject | None:
        """Give the next request or answer; `None` once there are no more."""
        while (line := await self._process.read_line()) is not None:
            message = self._message(line)
            if message is None:
                continue
            if message.get("method") == UPDATE and "id" not in message:
                self._take_news(message.get("params"))
            else:
                return message
        return None

    def _message(self, line: bytes) -> JsonObject | None:
        try:
            message = decode_json(line)
        except NotJson:
            message = None
        if type(message) is dict and ("method" in message or "id" in message):
            return message
        if text := line.decode(errors="replace").strip():
            log.info("%s printed what is no message: %s", self._process.name, text[:200])
        return None

    def _take_news(self, params: Any) -> None:
        try:
            self._hear(params)
        except Exception:  # whatever it says, the connection goes on
            log.exception("news of %s could not be taken", self._process.name)

    async def close(self) -> None:
        """Do nothing: the program is ended by who started it."""
