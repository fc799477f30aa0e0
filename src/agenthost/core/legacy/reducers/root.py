"""The root reducer: agents, terminals, settings (R1 to R4)."""

from collections.abc import Callable
from typing import Any

from agenthost.core.reducers.live import Live
from agenthost.core.reducers.records import apply_config, put
from agenthost.wire.ahp.legacy.actions import RootAction
from agenthost.wire.ahp.legacy.root import RootState

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


def reduce_root(live: Live[RootState], action: RootAction, _now: float) -> Live[RootState]:
    """Apply one action. An action that does not apply leaves the state as it was."""
    handler = HANDLERS.get(action["type"])  # G4: others change nothing
    return live if handler is None else Live(handler(live.state, action))
