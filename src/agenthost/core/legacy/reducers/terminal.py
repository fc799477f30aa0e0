"""The terminal reducer: output, size, holder, commands (T1 to T11)."""

from agenthost.core.reducers import terminal
from agenthost.core.reducers.live import Live
from agenthost.core.reducers.records import put
from agenthost.wire.ahp.legacy.actions import TerminalAction
from agenthost.wire.ahp.legacy.actions.text import TerminalData
from agenthost.wire.ahp.legacy.terminal import TerminalState

HANDLERS: dict[str, terminal.Handler] = {
    **terminal.HANDLERS,
    "terminal/exited": lambda state, action: put(state, exitCode=action.get("exitCode")),  # T7
}
"""All but one are the same as they are today."""


def reduce_terminal(
    live: Live[TerminalState], action: TerminalAction | TerminalData, _now: float
) -> Live[TerminalState]:
    """Apply one action. An action that does not apply leaves the state as it was."""
    return terminal.handle_terminal(HANDLERS, live, action)
