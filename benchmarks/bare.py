"""The baseline for AAP: Starlette with a constant answer, and bare ASGI with ready-made events.

`.venv/bin/python benchmarks/bare.py` serves `POST /turn` and `POST /stream?COUNT`, with the same settings as
our server.
"""

import asyncio
import socket

import uvicorn
import uvloop
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import Message, Receive, Scope, Send

AT_ONCE = 32
BODY = b'{"stopReason":"end_turn","messages":[{"role":"assistant","content":"hello world "}]}'
START = b"event: turn_start\ndata: {}\n\n"
DELTA = b'event: text_delta\ndata: {"delta":"hello world "}\n\n'
STOP = b'event: turn_stop\ndata: {"stopReason":"end_turn"}\n\n'


async def turn(request: Request) -> Response:
    """Answer every turn with the same body."""
    await request.body()
    return Response(BODY, media_type="application/json")


class Streaming:
    """Sends as many ready-made events as the query says, some at a time."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        while (await receive()).get("more_body"):
            pass
        count = int(scope["query_string"])
        headers = [(b"content-type", b"text/event-stream; charset=utf-8")]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send(_part(START))
        full, rest = divmod(count, AT_ONCE)
        for _ in range(full):
            await send(_part(DELTA * AT_ONCE))
            await asyncio.sleep(0)
        await send(_part(DELTA * rest + STOP))
        await send({"type": "http.response.body", "body": b""})


def _part(data: bytes) -> Message:
    return {"type": "http.response.body", "body": data, "more_body": True}


APP = Starlette(routes=[Route("/turn", turn, methods=["POST"]), Route("/stream", Streaming())])


async def serve() -> None:
    """Serve, with the settings that our own server has."""
    listener = socket.create_server(("127.0.0.1", 0), backlog=2_048)
    config = uvicorn.Config(
        APP,
        loop="none",
        http="httptools",
        lifespan="off",
        interface="asgi3",
        log_config=None,
        access_log=False,
        proxy_headers=False,
        server_header=False,
        workers=1,
    )
    print(f"bare listens on http://127.0.0.1:{listener.getsockname()[1]}", flush=True)
    await uvicorn.Server(config).serve(sockets=[listener])


if __name__ == "__main__":
    uvloop.run(serve())
