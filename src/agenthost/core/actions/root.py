"""Actions of the root."""

from collections.abc import Sequence

from agenthost.wire.ahp.actions.root import (
    RootActiveSessionsChangedAction,
    RootAgentsChangedAction,
    RootConfigChangedAction,
    RootTerminalsChangedAction,
)
from agenthost.wire.ahp.root import AgentInfo
from agenthost.wire.ahp.terminal import TerminalInfo
from agenthost.wire.json import JsonObject

__all__ = ["active_sessions_changed", "agents_changed", "root_config_changed", "terminals_changed"]


def agents_changed(agents: Sequence[AgentInfo]) -> RootAgentsChangedAction:
    """The host serves these agents now."""
    return {"type": "root/agentsChanged", "agents": list(agents)}


def active_sessions_changed(count: int) -> RootActiveSessionsChangedAction:
    """There are this many sessions now."""
    return {"type": "root/activeSessionsChanged", "activeSessions": count}


def terminals_changed(terminals: Sequence[TerminalInfo]) -> RootTerminalsChangedAction:
    """There are these terminals now."""
    return {"type": "root/terminalsChanged", "terminals": list(terminals)}


def root_config_changed(config: JsonObject, *, replace: bool = False) -> RootConfigChangedAction:
    """Settings of the host have new values; with `replace`, these are all values."""
    action: RootConfigChangedAction = {"type": "root/configChanged", "config": config}
    if replace:
        action["replace"] = True
    return action
