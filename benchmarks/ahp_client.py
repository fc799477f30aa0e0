"""How fast the AHP client is: frames in, states out.

First without a network, then over a WebSocket from another process: with the filter for plain frames, and
without it, so that the WebSocket library reads them. Times are CPU times; compare ratios of one run only.
`--frames N` sets how many.
"""

import argparse
import asyncio
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from websockets.asyncio.server import ServerConnection, serve

from agenthost.client.ahp import AhpClient
from agenthost.client.ahp.dialect import CurrentDialect
from agenthost.client.ahp.observable_replica import ObservableReplica
from agenthost.client.ahp.receiver import Receiver, deny_access
from agenthost.client.ahp.requests import PendingRequests
from agenthost.client.ahp.tasks import BackgroundTasks
from agenthost.wire.ahp import PROTOCOL_VERSION, ROOT_URI
from agenthost.wire.json import decode_json, encode_json

URI, CHAT = "demo:/1", "ahp-chat:/1"
NOW = "2026-01-01T00:00:00.000Z"
AT_ONCE = 50
"""How many frames the server hands to its socket at a time."""

UNFILTERED = "/unfiltered"
"""The path for clients without the filter."""


def make_frames(count: int, **more: Any) -> list[bytes]:
    """Return the frames of a turn that streams; more fields make the client decode them the general way."""
    action = {"type": "chat/delta", "turnId": "t", "partId": "p", "content": "hello world "}
    params = {"channel": CHAT, "action": action, **more}
    return [
        encode_json({"jsonrpc": "2.0", "method": "action", "params": {**params, "serverSeq": seq}})
        for seq in range(1, count + 1)
    ]


def snapshots() -> list[Any]:
    """Return a session, and its chat whose turn is running."""
    part = {"kind": "markdown", "id": "p", "content": ""}
    message = {"text": "", "origin": {"kind": "user"}}
    turn = {"id": "t", "startedAt": NOW, "message": message, "responseParts": [part]}
    entry = {"resource": CHAT, "title": "", "status": 8, "modifiedAt": NOW}
    session = {"provider": "demo", "title": "", "status": 1, "lifecycle": "ready", "activeClients": []}
    session |= {"chats": [entry], "defaultChat": CHAT}
    states: Any = {URI: session, CHAT: {**entry, "turns": [], "activeTurn": turn}}
    return [{"resource": uri, "state": state, "fromSeq": 0} for uri, state in states.items()]


def new_receiver(replica: ObservableReplica) -> Receiver:
    """Return a receiver that has nothing around it."""
    nobody: Any = lambda _: None  # noqa: E731
    return Receiver(
        replica,
        PendingRequests(),
        BackgroundTasks(),
        on_access_request=deny_access,
        on_notification=nobody,
        on_stale=nobody,
    )


def measure(frames: list[bytes], prepare: Callable[[ObservableReplica], object] = lambda _: None) -> float:
    """Return the seconds that all frames take."""
    replica = ObservableReplica("me")
    for snapshot in snapshots():
        replica.load(snapshot)
    replica.pair(URI, URI, CHAT)
    prepare(replica)
    receiver = new_receiver(replica)
    link: Any = SimpleNamespace(dialect=CurrentDialect())
    begun = time.process_time()
    for frame in frames:
        receiver.receive(frame, link)
    spent = time.process_time() - begun
    check(replica.confirmed(CHAT), len(frames))
    return spent


def check(state: Any, count: int) -> None:
    """Fail unless the state has the text of so many frames."""
    assert len(state["activeTurn"]["responseParts"][0]["content"]) == 12 * count


# Over a socket


async def run_server(count: int) -> None:
    """Serve any number of clients, each with the same frames; print the port first."""
    end = {"type": "session/titleChanged", "title": "end"}
    params = {"channel": URI, "action": end, "serverSeq": count + 1}
    last = {"jsonrpc": "2.0", "method": "action", "params": params}
    frames = [*map(wrap, make_frames(count)), wrap(encode_json(last))]
    pieces = [b"".join(frames[at : at + AT_ONCE]) for at in range(0, len(frames), AT_ONCE)]

    async def answer(socket: ServerConnection, result: Any) -> None:
        request: Any = decode_json(await socket.recv())
        body = {"jsonrpc": "2.0", "id": request["id"], "result": result}
        await socket.send(encode_json(body), text=True)

    async def talk(socket: ServerConnection) -> None:
        root = {"resource": ROOT_URI, "state": {"agents": []}, "fromSeq": 0}
        await answer(socket, {"protocolVersion": PROTOCOL_VERSION, "serverSeq": 0, "snapshots": [root]})
        for snapshot in snapshots():
            await answer(socket, {"snapshot": snapshot})
        await socket.recv()
        if socket.request is not None and socket.request.path == UNFILTERED:
            await socket.send(
                b'{"jsonrpc":"2.0","method":"hello","params":{}}'
            )  # binary: the filter steps aside
        for piece in pieces:
            socket.transport.write(piece)
            while socket.transport.get_write_buffer_size() > 1 << 20:  # noqa: ASYNC110 - the peer is another process
                await asyncio.sleep(0.001)
        await socket.wait_closed()

    async with serve(talk, "127.0.0.1", 0) as server:
        print(next(iter(server.sockets)).getsockname()[1], flush=True)
        await server.wait_closed()


def wrap(message: bytes) -> bytes:
    """Return a message as an unmasked text frame."""
    size = len(message)
    head = bytes([0x81, size]) if size < 126 else bytes([0x81, 126]) + size.to_bytes(2, "big")
    return head + message


async def measure_client(url: str, count: int) -> float:
    """Return the CPU seconds that a client takes for all frames."""
    async with AhpClient(url) as client:
        session = await client.session(URI)
        begun = time.process_time()
        session.mark_read()
        await session.until(lambda state: state.session["title"] == "end")
        spent = time.process_time() - begun
        check(session.confirmed.chat, count)
        return spent


@contextmanager
def server_process(count: int) -> Iterator[str]:
    """Run the server; the context is its URL."""
    command = [sys.executable, str(Path(__file__)), "--serve", "--frames", str(count)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:  # noqa: S603 - our own
        assert server.stdout
        try:
            yield f"ws://127.0.0.1:{int(server.stdout.readline())}"
        finally:
            server.terminate()


async def main() -> None:
    """Measure, and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--frames", type=int, default=200_000)
    parser.add_argument("--serve", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    count = options.frames
    if options.serve:
        await run_server(count)
        return
    fast, general = make_frames(count), make_frames(count, origin={"clientId": "x", "clientSeq": 1})
    best = min(measure(fast) for _ in range(3))
    slow = min(measure(general) for _ in range(3))
    heard = min(measure(fast, lambda m: m.listeners(URI).add(lambda _: None)) for _ in range(3))
    print(f"decoded fast     {best / count * 1e6:6.2f} µs a frame, {count / best:9,.0f} a second")
    print(f"the general way  {slow / best:6.2f} times that")
    print(f"with a listener  {heard / best:6.2f} times that")
    with server_process(count) as url:
        pairs = [
            (await measure_client(f"{url}/ahp", count), await measure_client(url + UNFILTERED, count))
            for _ in range(3)
        ]
    filtered, unfiltered = (min(times) for times in zip(*pairs, strict=True))
    print(f"over a socket    {filtered / count * 1e6:6.2f} µs a frame, {count / filtered:9,.0f} a second")
    print(f"without filter   {unfiltered / filtered:6.2f} times that")


asyncio.run(main())
