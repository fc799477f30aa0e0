"""Attacks of those who have shown no key, on what there is before one has to be shown."""

import asyncio
import socket
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager, suppress

from websockets.exceptions import InvalidStatus
from websockets.sync.client import connect

from attack.stage import Stage, Target, hold

OPEN = ("/", "/healthz", "/readyz", "/access")
"""What tells nothing of anybody, and is open to everybody."""

PATHS = {
    "GET": (
        "/metrics /aap/meta /aap/sessions /aap/sessions/x /aap/sessions/x/history "
        "/aap/v1/meta /aap/v2/sessions /aap/openapi.json /ahp /nothing"
    ).split(),
    "POST": ["/aap/sessions", "/aap/sessions/x/turns", "/aap/v1/session/x"],
    "PUT": ["/aap/v1/session", "/aap/v2/session"],
    "DELETE": ["/aap/sessions/x"],
}
ORIGINS = (None, "http://localhost:1234", "http://127.0.0.1:1", "null", "https://evil.example")

HALF_HEAD = b"POST /aap/sessions HTTP/1.1\r\nhost: 127.0.0.1\r\n"
HALF_BODY = HALF_HEAD + b"content-length: 1000\r\n\r\n{"
ENDLESS = HALF_HEAD + b"x: "
KINDS = {"silent": b"", "half headers": HALF_HEAD, "half bodies": HALF_BODY, "endless headers": ENDLESS}
CROWD = 300
ANSWER_SECONDS = 5.0
MAX_GROWTH = 64
"""How many MiB more a crowd may cost."""


def no_token(stage: Stage) -> str:
    """Come without the token, by every way there is."""
    with stage.serve() as target:
        for path in OPEN:
            hold(target.ask(path).status == 200, f"{path} should be open to everybody")
        for key in (None, "ah_0", "0" * 64):
            for method, paths in PATHS.items():
                for path in paths:
                    _refused(target, method, path, key)
        for origin in ORIGINS:
            _no_socket(target, origin)
        told = target.ask("/healthz", host="evil.example")
        hold(told.status == 421, f"another name for this machine was answered with {told.status}")
        said = str(target.ask("/").body) + str(target.ask("/access").body)
    token = (stage.data / "token").read_text().split()[0]
    hold(token not in said, "the page of a stranger holds the token")
    hold((stage.data / "token").stat().st_mode & 0o077 == 0, "others on this machine can read the token")
    return f"{sum(map(len, PATHS.values()))} paths, {len(ORIGINS)} origins"


def _refused(target: Target, method: str, path: str, key: str | None) -> None:
    for origin in ({}, {"Origin": "http://localhost:1234"}):
        found = target.ask(path, method, {} if method != "GET" else None, key, **origin)
        hold(found.status in (401, 404), f"{method} {path} was answered with {found.status}")
        hold(found.status == 401 or path == "/nothing", f"{method} {path} was answered without a key")


def _no_socket(target: Target, origin: str | None) -> None:
    headers = {} if origin is None else {"Origin": origin}
    for path in ("/ahp", "/ahp?tkn=ah_0"):
        try:
            with connect(
                f"ws{target.url.removeprefix('http')}{path}", additional_headers=headers, proxy=None
            ):
                hold(False, f"a WebSocket from {origin} was let in")
        except InvalidStatus as refused:
            hold(
                refused.response.status_code in (401, 403), f"a WebSocket got {refused.response.status_code}"
            )


def half_requests(stage: Stage) -> str:
    """Begin requests, and never finish them, while others work."""
    key = stage.key("ann")
    with stage.serve() as target, target.pulse("/aap/meta", key) as newcomer:
        before = target.memory()
        worst = asyncio.run(_work_beside_a_crowd(stage, target, key))
        hold(target.memory() - before < MAX_GROWTH, f"it costs {target.memory() - before} MiB")
    return f"{newcomer.check(ANSWER_SECONDS)}; those who are in waited {worst * 1000:.0f} ms at most"


async def _work_beside_a_crowd(stage: Stage, target: Target, key: str) -> float:
    worst = 0.0
    async with target.client(key) as client:
        with crowd(target.url) as peers:
            going = asyncio.create_task(asyncio.to_thread(_wait_gone, peers))
            while not going.done():
                begun = time.monotonic()
                await client.request("ping")
                worst = max(worst, time.monotonic() - begun)
                await asyncio.sleep(0.05)
            left = going.result()
            hold(not left, f"{left} of {CROWD} are still connected")
        uri = await client.begun("caller:/after", provider="caller")
        stage.tell(f"all are gone; {uri} was made")
    hold(worst < ANSWER_SECONDS, f"somebody who is in waited {worst:.1f} s")
    return worst


@contextmanager
def crowd(url: str) -> Iterator[list[socket.socket]]:
    """Connect many, each with a beginning of its own that never ends."""
    host, port = url.removeprefix("http://").split(":")
    with ExitStack() as stack, ThreadPoolExecutor(8) as pool:

        def come(number: int) -> socket.socket:
            peer = stack.enter_context(socket.create_connection((host, int(port)), timeout=5))
            said = list(KINDS.values())[number % len(KINDS)]
            with suppress(OSError):
                peer.sendall(said)
                for _ in range(32 if said == ENDLESS else 0):
                    peer.sendall(b"y" * 65536)
            return peer

        yield list(pool.map(come, range(CROWD)))


def _wait_gone(peers: list[socket.socket], seconds: float = 45) -> int:
    """Wait until the server has ended these; returns how many it has not."""
    left, deadline = list(peers), time.monotonic() + seconds
    while left and time.monotonic() < deadline:
        left = [peer for peer in left if _is_open(peer)]
        time.sleep(0.1)
    return len(left)


def _is_open(peer: socket.socket) -> bool:
    peer.setblocking(False)
    try:
        while peer.recv(65536):
            pass
    except BlockingIOError:
        return True
    except OSError:
        return False
    return False
