"""Exchanges: the requests of a session's turns, and the events that follow, however the server answers."""

import asyncio
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import aclosing, suppress
from typing import Any

from agenthost.client.aap.errors import AapError, StreamError
from agenthost.client.aap.record import Record, to_events
from agenthost.client.aap.replies import Reply
from agenthost.client.aap.server import Server
from agenthost.client.aap.versions import Version
from agenthost.errors import InvalidValue, NotJson
from agenthost.wire.aap.legacy import create_from_v3
from agenthost.wire.aap.v3 import ApplicationMessage, PostSessionsRequest, SSEEvent, ToolSpec
from agenthost.wire.json import JsonObject
from agenthost.wire.sse import SseEvent

__all__ = ["Exchange"]

DRAIN_SECONDS = 0.5
"""How long to wait for the end of a stream, so that its connection can be reused."""


class Exchange:
    """The requests of one session.

    Attributes:
        session_id: the session; None until the first turn creates it.
        undeclared: the application's tools, if the server does not know them yet.
    """

    def __init__(self, server: Server, session_id: str | None, unsent: PostSessionsRequest | None) -> None:
        self.session_id = session_id
        self.undeclared: list[ToolSpec] | None = None
        self._server = server
        self._unsent = unsent

    def with_settings(
        self, settings: JsonObject
    ) -> Callable[[Sequence[ApplicationMessage], Record], AsyncGenerator[SSEEvent, None]]:
        """Return a function that posts messages of one turn. The first request carries the settings."""
        stream = settings["stream"]
        unsent = [settings]

        def post(messages: Sequence[ApplicationMessage], record: Record) -> AsyncGenerator[SSEEvent, None]:
            body = {**(unsent.pop() if unsent else {"stream": stream}), "messages": list(messages)}
            return self._post(body, record)

        return post

    async def _post(self, body: Any, record: Record) -> AsyncGenerator[SSEEvent, None]:
        """Send a request and yield its events; each is in the record before it is yielded."""
        version = await self._server.version()
        if self.undeclared is not None:
            body = {**body, "tools": self.undeclared}
        if self.session_id is not None:
            method, path, sent = "POST", version.turns_path(self.session_id), version.turn(body)
        elif self._unsent is not None:
            method, path, sent = "PUT", "/session", create_from_v3(self._unsent, body)
        else:
            raise AssertionError("a session has an id, or is about to be created")
        timeouts = self._server.transport.timeouts
        seconds = timeouts.answer if body["stream"] == "none" else timeouts.read
        async with self._server.transport.open(method, path, sent, read=seconds) as reply:
            self.undeclared = None
            read = self._stream if reply.is_stream else self._whole
            async with aclosing(read(reply, version, record)) as events:
                async for event in events:
                    yield event
        if self.session_id is None:
            raise StreamError("the server did not name the session that it created")

    async def _whole(self, reply: Reply, version: Version, record: Record) -> AsyncGenerator[SSEEvent, None]:
        """Read an answer that comes in one piece, because that was requested or the server cannot stream."""
        try:
            answer, made = version.answer(await reply.json())
        except InvalidValue as error:
            raise self._server.violation(error) from error
        self.session_id = self.session_id or made
        record.add_answer(answer)
        for event in to_events(answer):
            yield event

    async def _stream(self, reply: Reply, version: Version, record: Record) -> AsyncGenerator[SSEEvent, None]:
        async with aclosing(reply.events()) as events:
            async for sent in events:
                event = _decoded(sent, version)
                if event["event"] == "session_start":
                    self.session_id = self.session_id or event["sessionId"]
                    continue
                record.add(event)
                yield event
                if event["event"] == "turn_stop":
                    await _drain(events)
                    return
        raise StreamError(
            "the answer ended before its turn_stop: the server or a proxy closed the connection"
        )


async def _drain(events: AsyncGenerator[SseEvent, None]) -> None:
    with suppress(TimeoutError, AapError):
        async with asyncio.timeout(DRAIN_SECONDS):
            async for _ in events:
                pass


def _decoded(sent: SseEvent, version: Version) -> Any:
    try:
        return version.event(sent)
    except (NotJson, InvalidValue) as error:
        raise StreamError(f"the event {sent.name!r} is not valid: {error}") from error
