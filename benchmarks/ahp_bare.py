"""The baseline for AHP: a WebSocket server that sends ready-made frames to all clients.

It has the same settings as ours. `{"go": COUNT}` from any client sends that many frames to each.
"""

import asyncio
import json
import socket

import uvicorn
import uvloop
from starlette.types import Receive, Scope, Send

FRAME = (
    '{"jsonrpc":"2.0","method":"action","params":{"channel":"ahp-chat:/0123456789","action":{'
    '"type":"chat/delta","turnId":"t1","partId":"0123456789abcdef","content":"hello world "},'
    '"serverSeq":1234567890123456}}'
)


class Broadcast:
    """Sends the same to everybody."""

    def __init__(self) -> None:
        self._sends: set[Send] = set()
        self._tasks: set[asyncio.Task[None]] = set()

    async def __call__(self, _scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one connection."""
        await receive()
        await send({"type": "websocket.accept"})
        self._sends.add(send)
        while (message := await receive())["type"] == "websocket.receive":
            count = json.loads(message["text"]).get("go")
            if count is None:
                await send({"type": "websocket.send", "text": '{"id":1,"result":null}'})
                continue
            for each in self._sends:
                task = asyncio.create_task(_stream(each, count))
                self._tasks.add(task)
                task.add_done_callback(self._tasks.discard)
        self._sends.discard(send)


async def _stream(send: Send, count: int) -> None:
    for number in range(count):
        await send({"type": "websocket.send", "text": FRAME})
        if number % 64 == 0:
            await asyncio.sleep(0)  # others have their turn, as with any real source


async def serve() -> None:
    """Serve, with the settings that our own server has."""
    listener = socket.create_server(("127.0.0.1", 0), backlog=2_048)
    config = uvicorn.Config(
        Broadcast(),
        loop="none",
        ws="websockets-sansio",
        ws_per_message_deflate=False,
        lifespan="off",
        interface="asgi3",
        log_config=None,
        access_log=False,
        proxy_headers=False,
        server_header=False,
    )
    print(f"bare listens on http://127.0.0.1:{listener.getsockname()[1]}", flush=True)
    await uvicorn.Server(config).serve(sockets=[listener])


if __name__ == "__main__":
    uvloop.run(serve())
