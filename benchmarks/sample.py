"""What the benchmarks work on, and what they are measured by."""

import time

import msgspec

from agenthost.wire.ahp.actions.text import SessionDelta
from agenthost.wire.ahp.session import SessionState

DELTAS = 2_000


def streaming(uri: str) -> SessionState:
    """Give a session whose turn is being answered."""
    return {
        "summary": {
            "resource": uri,
            "provider": "demo",
            "title": "Benchmark",
            "status": 8,
            "createdAt": 1,
            "modifiedAt": 1,
        },
        "lifecycle": "ready",
        "turns": [],
        "activeTurn": {
            "id": "t1",
            "userMessage": {"text": "Go on"},
            "responseParts": [{"kind": "markdown", "id": "p1", "content": ""}],
        },
    }


def encoding_rate() -> float:
    """Give the rate at which msgspec alone encodes such envelopes."""
    encode = msgspec.json.Encoder().encode
    envelopes = [
        {"action": SessionDelta("demo:/0123456789abcdef", "t1", "p1", f"word {seq} "), "serverSeq": seq}
        for seq in range(DELTAS)
    ]
    best = float("inf")
    for _ in range(30):
        begun = time.perf_counter()
        for envelope in envelopes:
            encode(envelope)
        best = min(best, time.perf_counter() - begun)
    return DELTAS / best
