"""The root reducer: agents, terminals, settings (R1 to R4)."""

from collections.abc import Callable
from typing import Any

from agenthost.core.reducers.handlers import handle
from agenthost.core.reducers.live import Live
from agenthost.core.reducers.records import apply_config, put
from agenthost.wire.ahp.actions import RootAction
from agenthost.wire.ahp.root import RootState

HANDLERS: dict[str, Callable[[RootState, Any], RootState]] = {
    # R1
    "root/agentsChanged": lambda state, action: put(state, agents=action.get("agents")),
    # R2
    "root/activeSessionsChanged": lambda state, action: put(
        state, activeSessions=action.get("activeSessions")
    ),
    # R3
    "root/terminalsChanged": lambda state, action: put(state, terminals=action.get("terminals")),
    # R4
    "root/configChanged": apply_config,
}


def reduce_root(live: Live[RootState], action: RootAction) -> Live[RootState]:
    """Apply one action. An action that does not apply leaves the state as it was."""
    return handle(HANDLERS, live, action)
