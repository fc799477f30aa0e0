"""Attacks of those who have a key, on everybody else: messages made to be expensive, streams never read."""

import asyncio
import json
import socket
import struct
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

from ahp_speaking import Client
from attack.stage import Stage, Target, hold
from serving import GIVE_BACK

MIB = 1024 * 1024
TOO_LARGE = 1009
DENSE = 49_900
"""A little fewer values than a message may have."""

ANSWER_SECONDS = 5.0
MAX_GROWTH = 300
READERS = 12
SETTLE_SECONDS = 1.0
PIECES = 256
"""How many pieces of 64 KiB each reader does not read."""

MAX_WAITING = 8
"""How many MiB may be held for each that does not read: half of what it missed."""

READ_BYTES = 4 * MIB
"""How much they read before they stop again, in the middle of what comes from the log."""


def frames(stage: Stage) -> str:
    """Send frames that are made to be expensive, while another client works."""
    bad, good = stage.key("bob"), stage.key("ann")
    with stage.serve() as target:
        before = target.memory()
        worst = asyncio.run(_send_frames(target, bad, good, 5 if stage.is_long else 1))
        grown = target.memory("VmHWM") - before
    hold(grown < MAX_GROWTH, f"it costs {grown} MiB")
    return f"another client waited {worst * 1000:.0f} ms at most, {grown} MiB more at most"


async def _send_frames(target: Target, bad: str, good: str, times: int) -> float:
    async with target.client(good, "good") as other:
        watching = asyncio.create_task(_watch(other))
        for _ in range(times):
            async with target.client(bad, "bad") as client:
                await _send(client, b"[" + b"[]," * (32 * MIB // 3 - 2) + b"[]]")
                code, _reason = await client.closed()
                hold(code == TOO_LARGE, f"a frame of 32 MiB ended with {code}")
            async with target.client(bad, "bad") as client:
                await client.raw("[" + "[]," * (2 * MIB) + "[]]")
                told = await client.stray()
                hold("error" in told, f"a dense frame was answered with {told}")
                await client.request("ping", filler=[0] * DENSE)
                await client.request("ping", filler="x" * (7 * MIB))
        watching.cancel()
        (worst,) = await asyncio.gather(watching, return_exceptions=False)
    hold(worst < ANSWER_SECONDS, f"another client waited {worst:.1f} s")
    return worst


async def _send(client: Client, data: bytes) -> None:
    try:
        await client.raw(data.decode())
    except Exception:  # the server may well have ended it by then
        return


async def _watch(client: Client) -> float:
    worst = 0.0
    try:
        while True:
            begun = time.monotonic()
            await client.request("ping")
            worst = max(worst, time.monotonic() - begun)
            await asyncio.sleep(0.02)
    except asyncio.CancelledError:
        return worst


def silent_readers(stage: Stage) -> str:
    """Ask for streams, read nothing, then a little, and leave."""
    key = stage.key("ann")
    with stage.serve(**GIVE_BACK) as target:
        usual = _said(target, key, lambda session: _leave_early(_begin(target.url, session, key)))
    with stage.serve(**GIVE_BACK) as target, target.pulse() as pulse:
        before = target.memory()
        readers: list[socket.socket] = []
        silent = _said(target, key, lambda session: readers.append(_begin(target.url, session, key)))
        for reader in readers:
            _read_some(reader)
        time.sleep(SETTLE_SECONDS)
        behind = target.memory() - before
        for reader in readers:
            _leave(reader)
        time.sleep(SETTLE_SECONDS)
        gone = target.memory() - before
    told = (
        f"{silent} MiB more, {behind} after they read a little, {gone} when they are gone, where turns that "
        f"nobody hears cost {usual}"
    )
    hold(max(silent, behind) < usual + READERS * MAX_WAITING, told)
    hold(gone < usual + READERS * MAX_WAITING / 2, told)
    return f"{told}; {pulse.check(ANSWER_SECONDS)}"


def _read_some(sock: socket.socket) -> None:
    got = 0
    while got < READ_BYTES:
        got += len(sock.recv(65536)) or READ_BYTES


def _said(target: Target, key: str, begin: Callable[[str], object]) -> int:
    """Have all turns run; returns how much more memory the server has then, in MiB."""
    before = target.memory()
    sessions = [target.session("flood", key) for _ in range(READERS)]
    with ThreadPoolExecutor(READERS) as pool:
        list(pool.map(begin, sessions))
    _wait_turns(target, key, sessions)
    return target.memory() - before


def _begin(url: str, session: str, key: str) -> socket.socket:
    host, port = url.removeprefix("http://").split(":")
    sock = socket.socket()
    sock.settimeout(60)
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 65536)
    sock.connect((host, int(port)))
    body = json.dumps({"messages": [{"role": "user", "content": str(PIECES)}], "stream": "delta"})
    head = f"POST /aap/sessions/{session}/turns HTTP/1.1\r\nhost: {host}\r\nauthorization: Bearer {key}\r\n"
    sock.sendall(f"{head}content-length: {len(body)}\r\n\r\n{body}".encode())
    return sock


def _leave_early(sock: socket.socket) -> None:
    """Leave as soon as the turn has begun: it goes on by itself."""
    found = b""
    while b"event: turn_start" not in found:
        more = sock.recv(4096)
        hold(more, f"a stream ended before it began: {found!r}")
        found += more
    _leave(sock)


def _leave(sock: socket.socket) -> None:
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    sock.close()


def _wait_turns(target: Target, key: str, sessions: list[str], seconds: float = 60) -> None:
    """Wait until all turns are over: then another one is not refused for that reason."""
    deadline = time.monotonic() + seconds
    for session in sessions:
        body = {"messages": [{"role": "user", "content": "0"}], "stream": "none"}
        while target.ask(f"/aap/sessions/{session}/turns", "POST", body, key).status == 409:
            hold(time.monotonic() < deadline, "a turn that nobody reads does not end")
            time.sleep(0.1)
