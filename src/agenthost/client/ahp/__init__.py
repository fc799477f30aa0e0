"""The AHP client, for applications that follow and steer sessions together with others.

```python
async with AhpClient("ws://127.0.0.1:8642/ahp") as client:
    session = await client.create("demo")
    async for piece in session.say("Hello"):
        print(piece, end="")
```

`client` is the host as a whole, `session` one conversation with its chats, `chat` one of these (with
`talking` and `answering`), `turn` a message and its answer; `changeset`, `terminal`, `files` and
`session_list` are what their names say. `resource` is what they share, `registry` has those that are open.
`tools` and `tool_runner` run the application's own tools.

Below them, `connection` sends requests and actions (`params`, `dispatched_action`). It is made of
`reconnecting_link` (with `handshake` and `backoff`), `link` (one WebSocket, with `fast_frames`), `receiver`
(`frames`, `requests`) and `tasks`. A `dialect` is how a host is talked to; `legacy_dialect` is for hosts of
0.1. `observable_replica` holds the states and tells listeners of `changes`;
`events` are those of the connection.
"""

from agenthost.client.ahp.backoff import Backoff
from agenthost.client.ahp.changes import Change, Changes
from agenthost.client.ahp.changeset import ChangeCounts, Changeset
from agenthost.client.ahp.chat import Chat
from agenthost.client.ahp.client import DEFAULT_AHP_URL, AhpClient
from agenthost.client.ahp.dispatched_action import DispatchedAction
from agenthost.client.ahp.errors import (
    AhpError,
    AuthRequired,
    Closed,
    Conflict,
    Disconnected,
    Gone,
    NotAhp,
    NotFound,
    OutcomeUnknown,
    PermissionDenied,
    Refused,
    Rejected,
    ServerError,
    TakenOver,
    TimedOut,
    TurnFailed,
    Unauthorized,
    Unreachable,
    VersionMismatch,
)
from agenthost.client.ahp.events import Connected, ConnectionEvent, ConnectionLost
from agenthost.client.ahp.link import Timeouts
from agenthost.client.ahp.session import Session
from agenthost.client.ahp.session_list import SessionList
from agenthost.client.ahp.terminal import Terminal
from agenthost.client.ahp.tool_runner import report
from agenthost.client.ahp.turn import TurnStream, answer_text, stop_reason_of
from agenthost.client.tools import ClientTool
from agenthost.core.session_meta import subagent_session
from agenthost.errors import ToolError

__all__ = [
    "DEFAULT_AHP_URL",
    "AhpClient",
    "AhpError",
    "AuthRequired",
    "Backoff",
    "Change",
    "ChangeCounts",
    "Changes",
    "Changeset",
    "Chat",
    "ClientTool",
    "Closed",
    "Conflict",
    "Connected",
    "ConnectionEvent",
    "ConnectionLost",
    "Disconnected",
    "DispatchedAction",
    "Gone",
    "NotAhp",
    "NotFound",
    "OutcomeUnknown",
    "PermissionDenied",
    "Refused",
    "Rejected",
    "ServerError",
    "Session",
    "SessionList",
    "TakenOver",
    "Terminal",
    "TimedOut",
    "Timeouts",
    "ToolError",
    "TurnFailed",
    "TurnStream",
    "Unauthorized",
    "Unreachable",
    "VersionMismatch",
    "answer_text",
    "report",
    "stop_reason_of",
    "subagent_session",
]
