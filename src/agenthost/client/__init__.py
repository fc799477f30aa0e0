"""Clients of both protocols. Importing them loads no part of the server.

```python
async with AapClient("http://127.0.0.1:8642/aap") as client:
    session = await client.create("demo", tools=[weather])
    print((await session.ask("What is the weather in Rome?")).text)
```

`AhpClient` is the client of AHP; everything that goes with it is in `agenthost.client.ahp`.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from agenthost.errors import ToolError

if TYPE_CHECKING:
    from agenthost.client.aap.client import DEFAULT_URL, AapClient
    from agenthost.client.aap.content import UserContent, image
    from agenthost.client.aap.errors import (
        AapError,
        Conflict,
        NotAap,
        NotCreatedYet,
        NotFound,
        NothingToResume,
        Refused,
        ServerError,
        StreamError,
        TimedOut,
        TooManyRequests,
        TurnTooLong,
        Unauthorized,
        Unreachable,
    )
    from agenthost.client.aap.permission import Decide, Permission, allow_all, allow_only, deny_all
    from agenthost.client.aap.record import Answer
    from agenthost.client.aap.session import Session, TurnOptions
    from agenthost.client.aap.sync import SyncAapClient, SyncSession, SyncTurn
    from agenthost.client.aap.transport import Timeouts
    from agenthost.client.aap.turn import Turn, TurnLimits
    from agenthost.client.ahp.client import DEFAULT_AHP_URL, AhpClient
    from agenthost.client.tools import ClientTool
    from agenthost.wire.aap.v3 import AgentMessage, HistoryMessage, SessionInfo, SSEEvent, ToolCall

__all__ = [
    "DEFAULT_AHP_URL",
    "DEFAULT_URL",
    "AapClient",
    "AapError",
    "AgentMessage",
    "AhpClient",
    "Answer",
    "ClientTool",
    "Conflict",
    "Decide",
    "HistoryMessage",
    "NotAap",
    "NotCreatedYet",
    "NotFound",
    "NothingToResume",
    "Permission",
    "Refused",
    "SSEEvent",
    "ServerError",
    "Session",
    "SessionInfo",
    "StreamError",
    "SyncAapClient",
    "SyncSession",
    "SyncTurn",
    "TimedOut",
    "Timeouts",
    "TooManyRequests",
    "ToolCall",
    "ToolError",
    "Turn",
    "TurnLimits",
    "TurnOptions",
    "TurnTooLong",
    "Unauthorized",
    "Unreachable",
    "UserContent",
    "allow_all",
    "allow_only",
    "deny_all",
    "image",
]


_PLACES = {
    "client.aap.client": ("DEFAULT_URL", "AapClient"),
    "client.aap.content": ("UserContent", "image"),
    "client.aap.errors": (
        "AapError",
        "Conflict",
        "NotAap",
        "NotCreatedYet",
        "NotFound",
        "NothingToResume",
        "Refused",
        "ServerError",
        "StreamError",
        "TimedOut",
        "TooManyRequests",
        "TurnTooLong",
        "Unauthorized",
        "Unreachable",
    ),
    "client.aap.permission": ("Decide", "Permission", "allow_all", "allow_only", "deny_all"),
    "client.aap.record": ("Answer",),
    "client.aap.session": ("Session", "TurnOptions"),
    "client.aap.sync": ("SyncAapClient", "SyncSession", "SyncTurn"),
    "client.aap.transport": ("Timeouts",),
    "client.aap.turn": ("Turn", "TurnLimits"),
    "client.ahp.client": ("DEFAULT_AHP_URL", "AhpClient"),
    "client.tools": ("ClientTool",),
    "wire.aap.v3": ("AgentMessage", "HistoryMessage", "SSEEvent", "SessionInfo", "ToolCall"),
}
_MODULES = {name: f"agenthost.{module}" for module, names in _PLACES.items() for name in names}


def __getattr__(name: str) -> Any:
    """Import a name on first use: an application that uses one protocol does not load the other."""
    if name not in _MODULES:
        raise AttributeError(f"module 'agenthost.client' has no attribute {name!r}")
    value = getattr(import_module(_MODULES[name]), name)
    globals()[name] = value
    return value
