"""The client of AHP, for applications that watch and steer sessions together with others.

```python
async with AhpClient("ws://127.0.0.1:8642/ahp") as client:
    session = await client.create("demo")
    async for piece in session.say("Hello"):
        print(piece, end="")
```

`client` is the host as a whole (`attending`: its life), `session` one conversation (`acting`: what can be
done in it, `turn`: a question and its answer), `terminal` and `files` what their names say, `listing` the
list of sessions. Below them: `watching` and `changes` (what an application is told), `resources` (what is
open), `mirrors` (states, and what was dispatched), `line` (a connection that comes back; `events`),
`opening`, `reading`, `calls`, `frames`, `link` and `quick` (one WebSocket). `tools` and `running` run the
application's own tools.
"""

from agenthost.client.aap.tools import ClientTool
from agenthost.client.ahp.changes import Change, Changes, Echo
from agenthost.client.ahp.client import DEFAULT_AHP_URL, AhpClient
from agenthost.client.ahp.errors import (
    AhpError,
    AuthRequired,
    Closed,
    Conflict,
    Denied,
    Disconnected,
    Gone,
    NotAhp,
    NotFound,
    Refused,
    Rejected,
    ServerBroke,
    TakenOver,
    TimedOut,
    TurnFailed,
    Unanswered,
    Unauthorized,
    Unreachable,
    VersionMismatch,
)
from agenthost.client.ahp.events import Connected, Event, Lost, Patience
from agenthost.client.ahp.link import Timeouts
from agenthost.client.ahp.listing import SessionList
from agenthost.client.ahp.running import report
from agenthost.client.ahp.session import Session
from agenthost.client.ahp.terminal import Terminal
from agenthost.client.ahp.turn import Saying, answer_of, stop_reason_of
from agenthost.errors import ToolError

__all__ = [
    "DEFAULT_AHP_URL",
    "AhpClient",
    "AhpError",
    "AuthRequired",
    "Change",
    "Changes",
    "ClientTool",
    "Closed",
    "Conflict",
    "Connected",
    "Denied",
    "Disconnected",
    "Echo",
    "Event",
    "Gone",
    "Lost",
    "NotAhp",
    "NotFound",
    "Patience",
    "Refused",
    "Rejected",
    "Saying",
    "ServerBroke",
    "Session",
    "SessionList",
    "TakenOver",
    "Terminal",
    "TimedOut",
    "Timeouts",
    "ToolError",
    "TurnFailed",
    "Unanswered",
    "Unauthorized",
    "Unreachable",
    "VersionMismatch",
    "answer_of",
    "report",
    "stop_reason_of",
]
