"""Commands of a shell: which one runs, and what is told of it. Knows clocks, nothing of terminals."""

import time
from typing import Any, TypeAlias

Told: TypeAlias = tuple[str, dict[str, Any]]
"""The kind of an action on a terminal, and its fields."""


class Commands:
    """The commands of one shell, one after the other."""

    def __init__(self) -> None:
        self._count = 0
        self._begun: float | None = None

    def start(self, line: str) -> list[Told]:
        """Tell that a command began; of one whose end was never told, that it ended."""
        ended = self.finish(None)
        self._count += 1
        self._begun = time.monotonic()
        now = time.time_ns() // 1_000_000
        fields = {"commandId": f"{self._count}", "commandLine": line, "timestamp": now}
        return [*ended, ("commandExecuted", fields)]

    def finish(self, code: int | None) -> list[Told]:
        """Tell that the command ended, if one ran, with this code if it is known."""
        begun, self._begun = self._begun, None
        if begun is None:
            return []
        known = {} if code is None else {"exitCode": code}
        took = round((time.monotonic() - begun) * 1000)
        return [("commandFinished", {"commandId": f"{self._count}", **known, "durationMs": took})]
