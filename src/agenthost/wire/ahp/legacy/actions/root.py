"""Actions on the root."""

from typing import Literal, NotRequired, TypedDict

from agenthost.wire.ahp.legacy.root import AgentInfo
from agenthost.wire.ahp.legacy.terminal import TerminalInfo
from agenthost.wire.json import JsonObject


class RootAgentsChangedAction(TypedDict):
    """The agents are now these."""

    type: Literal["root/agentsChanged"]
    agents: list[AgentInfo]


class RootActiveSessionsChangedAction(TypedDict):
    """There are now this many sessions."""

    type: Literal["root/activeSessionsChanged"]
    activeSessions: int


class RootTerminalsChangedAction(TypedDict):
    """The terminals are now these."""

    type: Literal["root/terminalsChanged"]
    terminals: list[TerminalInfo]


class RootConfigChangedAction(TypedDict):
    """Settings of the host have new values."""

    type: Literal["root/configChanged"]
    config: JsonObject
    replace: NotRequired[bool]  # true = replace all values
