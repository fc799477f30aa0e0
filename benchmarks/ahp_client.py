"""How fast the AHP client takes what a host says, without a network: frames in, states out.

Ratios in one run: how much longer the general way takes than the quick one, and what a listener adds.
`--frames N` sets how many.
"""

import argparse
import asyncio
import time
from collections.abc import Callable
from typing import Any

from agenthost.client.ahp.calls import Calls
from agenthost.client.ahp.mirrors import Mirrors
from agenthost.client.ahp.reading import Reader, deny_access
from agenthost.wire.json import encode_json

URI = "demo:/1"


def frames_of(count: int, **more: Any) -> list[bytes]:
    """Give the frames of a turn that streams; with more in the envelope they are read the general way."""
    action = {
        "type": "session/delta",
        "session": URI,
        "turnId": "t",
        "partId": "p",
        "content": "hello world ",
    }
    return [
        encode_json(
            {"jsonrpc": "2.0", "method": "action", "params": {"action": action, "serverSeq": seq, **more}}
        )
        for seq in range(1, count + 1)
    ]


def new_mirrors() -> Mirrors:
    """Give a session whose turn is running."""
    mirrors = Mirrors("me")
    part = {"kind": "markdown", "id": "p", "content": ""}
    turn = {"id": "t", "userMessage": {"text": ""}, "responseParts": [part]}
    summary = {"resource": URI, "provider": "demo", "title": "", "status": 8, "createdAt": 0, "modifiedAt": 0}
    state: Any = {"summary": summary, "lifecycle": "ready", "turns": [], "activeTurn": turn}
    mirrors.load({"resource": URI, "state": state, "fromSeq": 0})
    return mirrors


def timed(frames: list[bytes], prepare: Callable[[Mirrors], object] = lambda _: None) -> float:
    """Give the seconds that all frames take."""
    mirrors = new_mirrors()
    prepare(mirrors)
    nobody: Any = lambda _: None  # noqa: E731
    reader = Reader(mirrors, Calls(), grant=deny_access, notified=nobody, doubtful=nobody)
    link: Any = None
    begun = time.perf_counter()
    for frame in frames:
        reader.take(frame, link)
    spent = time.perf_counter() - begun
    state: Any = mirrors.confirmed(URI)
    assert len(state["activeTurn"]["responseParts"][0]["content"]) == 12 * len(frames)
    return spent


async def main() -> None:
    """Measure, and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--frames", type=int, default=200_000)
    count = parser.parse_args().frames
    quick, general = frames_of(count), frames_of(count, origin={"clientId": "x", "clientSeq": 1})
    best = min(timed(quick) for _ in range(3))
    slow = min(timed(general) for _ in range(3))
    heard = min(timed(quick, lambda m: m.listeners(URI).add(lambda _: None)) for _ in range(3))
    print(f"in one go        {best / count * 1e6:6.2f} µs a frame, {count / best:9,.0f} a second")
    print(f"the general way  {slow / best:6.2f} times that")
    print(f"with a listener  {heard / best:6.2f} times that")


asyncio.run(main())
