"""Applications that never read and then leave: what they cost a server, in memory."""

import asyncio
import json
import socket
import struct
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from agenthost import Agent, Turn
from hosting import run
from rules import rule
from serving import GIVE_BACK, Served, ask, serving
from sites import site

FLOOD = """
import asyncio
from agenthost import Agent

async def answer(turn):
    for _ in range(400):
        await turn.say("x" * 65536)
        await asyncio.sleep(0.01)



flood = Agent("flood", answer, stream=("none", "delta"))
"""

READERS = 6
DELTAS = 400


def memory(served: Served) -> int:
    """Return how much memory a server has, in MiB."""
    lines = Path(f"/proc/{served.process.pid}/status").read_text().splitlines()
    return int(next(line for line in lines if line.startswith("VmRSS")).split()[1]) // 1024


def leave_reset(sock: socket.socket) -> None:
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    sock.close()


def leave_half(sock: socket.socket) -> None:
    """Close the sending side of the connection, and read nothing."""
    sock.shutdown(socket.SHUT_WR)


@pytest.fixture
def flooding(tmp_path: Path) -> Iterator[Served]:
    agents = tmp_path / "flood.py"
    agents.write_text(FLOOD)
    with serving("--data", tmp_path / "data", agents, command=None, **GIVE_BACK) as served:
        yield served


def begin(url: str, session: str) -> socket.socket:
    """Start a turn, and read nothing of it."""
    host, port = url.removeprefix("http://").split(":")
    sock = socket.socket()
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    sock.connect((host, int(port)))
    body = json.dumps({"messages": [{"role": "user", "content": "Go"}], "stream": "delta"})
    head = (
        f"POST /aap/sessions/{session}/turns HTTP/1.1\r\nhost: {host}\r\ncontent-length: {len(body)}\r\n\r\n"
    )
    sock.sendall((head + body).encode())
    return sock


def counted(url: str, name: str) -> float:
    """Return the metrics of a server."""
    lines = ask(url, "/metrics").body.decode().splitlines()
    return next((float(line.split()[1]) for line in lines if line.startswith(name)), 0.0)


@rule("Z3")
@pytest.mark.skipif(sys.platform != "linux", reason="memory is read from /proc")
def test_applications_that_never_read_cost_little(flooding: Served) -> None:
    url = flooding.wait_url()
    with ExitStack() as stack:
        for _ in range(READERS):
            made = ask(url, "/aap/sessions", "POST", {"agent": {"name": "flood"}}).json
            stack.enter_context(begin(url, made["sessionId"]))
        while counted(url, "agenthost_deltas_total") < READERS * DELTAS * 3 / 4:
            pass
        # A server without readers has 180 MiB then, most of it for the sessions; with all that waits for
        # such readers in memory, it was 390.
        assert memory(flooding) < 300


@rule("Z1")
@pytest.mark.parametrize("leave", [leave_reset, leave_half])
def test_no_memory_is_kept_for_an_application_that_did_not_read_and_left(
    tmp_path: Path, leave: Callable[[socket.socket], None]
) -> None:
    async def answer(turn: Turn) -> None:
        for _ in range(400):  # more than the sockets on the way hold
            await turn.say("x" * 65536)
            await asyncio.sleep(0.001)
        said.set()
        await gone.wait()
        for _ in range(100):
            await turn.say("x" * 65536)

    said, gone = asyncio.Event(), asyncio.Event()

    async def story() -> None:
        async with site(tmp_path, agents=[Agent("flood", answer, stream=("delta",))]) as here:
            hub = here.host.parts.engine.hub
            made = (await here.ask("/aap/sessions", "POST", {"agent": {"name": "flood"}})).json
            session = await here.host.parts.engine.sessions.named(made["sessionId"])
            sock = await asyncio.to_thread(begin, here.url, made["sessionId"])
            await said.wait()
            leave(sock)
            gone.set()
            while hub.is_heard(session.number) or "activeTurn" in session.shown_chat.state:  # noqa: ASYNC110
                await asyncio.sleep(0.01)
            sock.close()

    run(story)
