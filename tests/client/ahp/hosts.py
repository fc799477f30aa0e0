"""A tiny AHP host that follows a script, right or wrong."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from typing import Any

from websockets.asyncio.server import Server, ServerConnection, serve
from websockets.exceptions import ConnectionClosed

from agenthost.wire.json import decode_json, encode_json

ROOT: Any = {"resource": "agenthost:/root", "state": {"agents": []}, "fromSeq": 0}
URI = "odd:/1"


def session_state(**over: Any) -> Any:
    """Return the state of a session."""
    summary = {
        "resource": URI,
        "provider": "odd",
        "title": "Odd",
        "status": 1,
        "createdAt": 1,
        "modifiedAt": 1,
    }
    return {"summary": summary, "lifecycle": "ready", "turns": [], **over}


class Peer:
    """A client, as the host sees it."""

    def __init__(self, socket: ServerConnection) -> None:
        self.socket = socket

    async def hear(self, method: str | None = None) -> Any:
        """Wait for the next message, or the next with this method."""
        while True:
            message = decode_json(await self.socket.recv())
            if method is None or message.get("method") == method:
                return message

    async def send(self, message: Any) -> None:
        await self.socket.send(encode_json({"jsonrpc": "2.0", **message}), text=True)

    async def answer(self, request: Any, result: Any) -> None:
        await self.send({"id": request["id"], "result": result})

    async def refuse(self, request: Any, code: int, message: str = "no", data: Any = None) -> None:
        await self.send({"id": request["id"], "error": {"code": code, "message": message, "data": data}})

    async def act(self, seq: int, action: Any, **more: Any) -> None:
        params = {"action": {"session": URI, **action}, "serverSeq": seq, **more}
        await self.send({"method": "action", "params": params})

    async def notify(self, **news: Any) -> None:
        await self.send({"method": "notification", "params": {"notification": news}})

    async def open(self, **over: Any) -> Any:
        """Answer `initialize` as a good host does."""
        request = await self.hear("initialize")
        result = {"protocolVersion": "0.1.0", "serverSeq": 0, "snapshots": [ROOT], **over}
        await self.answer(request, result)
        return request["params"]

    async def show(self, seq: int = 0, **over: Any) -> None:
        """Answer `subscribe` with a session."""
        request = await self.hear("subscribe")
        snapshot = {"resource": request["params"]["resource"], "state": session_state(**over), "fromSeq": seq}
        await self.answer(request, {"snapshot": snapshot})

    async def stay(self) -> None:
        """Answer nothing until the client disconnects."""
        with suppress(ConnectionClosed):
            while True:
                await self.socket.recv()


class OddHost:
    """The host: each connection is served by the next script, and further ones by the last."""

    def __init__(self, parts: list[Callable[[Peer], Awaitable[object]]]) -> None:
        self._parts = parts
        self.connections = 0
        self.errors: list[BaseException] = []
        self.server: Server

    @property
    def url(self) -> str:
        return f"ws://127.0.0.1:{next(iter(self.server.sockets)).getsockname()[1]}"

    async def serve(self, socket: ServerConnection) -> None:
        part = self._parts[min(self.connections, len(self._parts) - 1)]
        self.connections += 1
        try:
            await part(Peer(socket))
        except ConnectionClosed:
            pass
        except Exception as error:
            self.errors.append(error)
            raise


@asynccontextmanager
async def odd_host(*parts: Callable[[Peer], Awaitable[object]]) -> AsyncIterator[OddHost]:
    """Run such a host; an error in a script fails the test."""
    host = OddHost(list(parts))
    host.server = await serve(host.serve, "127.0.0.1", 0)
    try:
        yield host
    finally:
        host.server.close()
        await host.server.wait_closed()
    if host.errors:
        raise host.errors[0]


def tasks() -> set[str]:
    """Return the names of all other tasks."""
    return {task.get_name() for task in asyncio.all_tasks() if task is not asyncio.current_task()}
