"""Commands of a shell: which one is running, and the actions that report it."""

import time

from agenthost.core import actions
from agenthost.wire.ahp.actions import TerminalAction

__all__ = ["CommandTracker"]


class CommandTracker:
    """Tracks the commands of one shell."""

    def __init__(self) -> None:
        self._count = 0
        self._begun: float | None = None

    def start(self, line: str) -> list[TerminalAction]:
        """Return the actions for a command that starts. If one was still running, it has ended."""
        ended = self.finish(None)
        self._count += 1
        self._begun = time.monotonic()
        now = time.time_ns() // 1_000_000
        return [*ended, actions.command_executed(f"{self._count}", line, now)]

    def finish(self, code: int | None) -> list[TerminalAction]:
        """Return the actions for the end of the command, if one was running."""
        begun, self._begun = self._begun, None
        if begun is None:
            return []
        took = round((time.monotonic() - begun) * 1000)
        return [actions.command_finished(f"{self._count}", exit_code=code, duration_ms=took)]
