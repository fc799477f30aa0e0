"""Transports: the ways to a server. A program on pipes, a message a line; or a URL, by streamable HTTP."""

import logging
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager, suppress
from pathlib import Path
from typing import TypeAlias

import anyio
import httpx2
import mcp_types
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.message import SessionMessage
from pydantic import ValidationError

from agenthost.host.programs.command import Command
from agenthost.host.programs.outpour import Outpour
from agenthost.host.programs.process import LONGEST_LINE, Program

__all__ = ["Streams", "http", "stdio"]

log = logging.getLogger("agenthost.mcp")

Reader: TypeAlias = "anyio.abc.ObjectReceiveStream[SessionMessage | Exception]"
Writer: TypeAlias = "anyio.abc.ObjectSendStream[SessionMessage]"
Streams: TypeAlias = AbstractAsyncContextManager["tuple[Reader, Writer]"]

CONNECT_SECONDS = 30.0


@asynccontextmanager
async def stdio(
    name: str, command: Command, cwd: Path, ended: Callable[[int | None], None]
) -> "AsyncIterator[tuple[Reader, Writer]]":
    """Run a program and speak with it on its pipes; `ended` is told when it ends, with its code if known.

    Raises:
        AgentUnavailable: it cannot be started.
    """
    env = command.environment()
    program = await Program.start(f"mcp {name}", command.found(env, cwd), cwd=cwd, env=env)
    outpour = Outpour(log, name)
    send_in, receive_in = anyio.create_memory_object_stream[SessionMessage | Exception]()
    send_out, receive_out = anyio.create_memory_object_stream[SessionMessage]()

    async def read() -> None:
        async with send_in:
            with suppress(anyio.BrokenResourceError):  # nobody listens any more
                while (line := await program.read_line()) is not None:
                    if (message := _message(outpour, line)) is not None:
                        await send_in.send(message)
        outpour.tell_left_out()
        ended(None)

    async def write() -> None:
        async with receive_out:
            with suppress(ConnectionError):  # it has ended: who reads finds out
                async for message in receive_out:
                    body = message.message.model_dump_json(by_alias=True, exclude_unset=True)
                    await program.write_line(body.encode())

    async with anyio.create_task_group() as group:
        group.start_soon(read)
        group.start_soon(write)
        try:
            yield receive_in, send_out
        finally:
            with anyio.CancelScope(shield=True):
                await program.leave()
            ended(program.code)
            group.cancel_scope.cancel()


def _message(outpour: Outpour, line: bytes) -> SessionMessage | None:
    if not line.strip():
        return None
    try:
        return SessionMessage(mcp_types.jsonrpc_message_adapter.validate_json(line, by_name=False))
    except ValidationError:
        # A greeting, or something left in for debugging: such programs work all the same.
        outpour.write(logging.WARNING, f"printed what is no message: {line[:200]!r}")
        return None


@asynccontextmanager
async def http(
    url: str, headers: dict[str, str], refused: Callable[[int], None]
) -> "AsyncIterator[tuple[Reader, Writer]]":
    """Speak with the server at a URL; `refused` is told the status of what it refuses."""

    async def look(response: httpx2.Response) -> None:
        if response.is_client_error or response.is_server_error:
            refused(response.status_code)

    client = httpx2.AsyncClient(
        headers=headers,
        # A tool takes as long as it takes: how long that may be is the host's business.
        timeout=httpx2.Timeout(CONNECT_SECONDS, read=None),
        event_hooks={"response": [look]},
    )
    async with (
        client,
        streamable_http_client(url, http_client=client, max_sse_event_size=LONGEST_LINE) as streams,
    ):
        yield streams  # type: ignore[misc] # of the same form, under other names
