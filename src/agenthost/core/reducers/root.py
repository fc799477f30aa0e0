"""The root reducer: agents, terminals, settings (R1 to R4)."""

from collections.abc import Callable
from typing import Any

from agenthost.core.reducers.live import Live
from agenthost.core.reducers.records import configured, put
from agenthost.wire.ahp.actions import RootAction
from agenthost.wire.ahp.root import RootState

HANDLERS: dict[str, Callable[[RootState, Any], RootState]] = {
    "root/agentsChanged": lambda state, action: put(state, agents=action.get("agents")),
    "root/activeSessionsChanged": lambda state, action: put(
        state, activeSessions=action.get("activeSessions")
    ),
    "root/terminalsChanged": lambda state, action: put(state, terminals=action.get("terminals")),
    "root/configChanged": configured,
}


def reduce_root(live: Live[RootState], action: RootAction, _now: float) -> Live[RootState]:
    """Apply one action; one that does not apply leaves the state as it was."""
    handler = HANDLERS.get(action["type"])
    return live if handler is None else Live(handler(live.state, action))
