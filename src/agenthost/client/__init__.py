"""What an application imports: clients of the protocols. No part of the server comes along.

```python
async with AapClient("http://127.0.0.1:8642/aap") as client:
    session = await client.create("demo", tools=[weather])
    print((await session.ask("What is the weather in Rome?")).text)
```

`AhpClient` is the client of the other protocol; what goes with it is in `agenthost.client.ahp`.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from agenthost.client.aap.client import DEFAULT_URL, AapClient
from agenthost.client.aap.content import Said, image
from agenthost.client.aap.errors import (
    AapError,
    Conflict,
    NotAap,
    NotCreatedYet,
    NotFound,
    NothingToResume,
    Refused,
    ServerBroke,
    StreamBroke,
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
from agenthost.client.aap.tools import ClientTool
from agenthost.client.aap.transport import Timeouts
from agenthost.client.aap.turn import Turn, TurnLimits
from agenthost.errors import ToolError
from agenthost.wire.aap.v3 import AgentMessage, HistoryMessage, SessionInfo, SSEEvent, ToolCall

if TYPE_CHECKING:
    from agenthost.client.ahp.client import DEFAULT_AHP_URL, AhpClient

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
    "Said",
    "ServerBroke",
    "Session",
    "SessionInfo",
    "StreamBroke",
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
    "allow_all",
    "allow_only",
    "deny_all",
    "image",
]


def __getattr__(name: str) -> Any:
    """Fetch the AHP client when it is first used: who speaks AAP alone needs no WebSockets."""
    if name not in ("DEFAULT_AHP_URL", "AhpClient"):
        raise AttributeError(f"module 'agenthost.client' has no attribute {name!r}")
    return getattr(import_module("agenthost.client.ahp.client"), name)
