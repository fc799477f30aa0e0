"""What the benchmarks work on."""

from agenthost.wire.ahp.session import SessionState


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
