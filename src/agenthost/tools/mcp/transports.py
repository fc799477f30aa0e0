"""MCP's transports: stdio (a program, one message per line) and streamable HTTP (a URL)."""

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
from agenthost.host.programs.output import ProgramOutput
from agenthost.host.programs.process import MAX_LINE_BYTES, Program

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
    """Run a program and talk to it over stdio. `ended` is called when it ends, with its exit code if known.

    Raises:
        AgentUnavailable: it cannot be started.
    """
    env = command.environment()
    program = await Program.start(f"mcp {name}", command.found(env, cwd), cwd=cwd, env=env)
    outpour = ProgramOutput(log, name)
    send_in, receive_in = anyio.create_memory_object_stream[SessionMessage | Exception]()
    send_out, receive_out = anyio.create_memory_object_stream[SessionMessage]()

    async def read() -> None:
        async with send_in:
            with suppress(anyio.BrokenResourceError):  # the connection was closed
                while (line := await program.read_line()) is not None:
                    if (message := _message(outpour, line)) is not None:
                        await send_in.send(message)
        outpour.report_dropped()
        ended(None)

    async def write() -> None:
        async with receive_out:
            with suppress(ConnectionError):  # the program has ended; `read` notices
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


def _message(outpour: ProgramOutput, line: bytes) -> SessionMessage | None:
    if not line.strip():
        return None
    try:
        return SessionMessage(mcp_types.jsonrpc_message_adapter.validate_json(line, by_name=False))
    except ValidationError:
        # MCP: a server must print nothing else, but some print a banner and work nevertheless.
        outpour.write(logging.WARNING, f"printed a line that is not a message: {line[:200]!r}")
        return None


@asynccontextmanager
async def http(
    url: str, headers: dict[str, str], refused: Callable[[int], None]
) -> "AsyncIterator[tuple[Reader, Writer]]":
    """Talk to the server at a URL. `refused` is called with the status of error responses."""

    async def check_status(response: httpx2.Response) -> None:
        if response.is_client_error or response.is_server_error:
            refused(response.status_code)

    client = httpx2.AsyncClient(
        headers=headers,
        # No read timeout: the host limits how long a tool may take.
        timeout=httpx2.Timeout(CONNECT_SECONDS, read=None),
        event_hooks={"response": [check_status]},
    )
    async with (
        client,
        streamable_http_client(url, http_client=client, max_sse_event_size=MAX_LINE_BYTES) as streams,
    ):
        yield streams  # type: ignore[misc] # the same streams under other types
