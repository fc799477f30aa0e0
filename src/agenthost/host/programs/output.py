"""The output of a program in our log, within bounds, so that it cannot fill the disk."""

import logging
import time

__all__ = ["ProgramOutput"]

MAX_LINES = 200
MAX_CHARACTERS = 100_000
"""How many lines and characters of one program are logged per minute. The rest is only counted."""

SECONDS = 60.0

MAX_LINE = 2_000
"""How much of one line is logged."""


class ProgramOutput:
    """The lines of one program in a log."""

    def __init__(self, log: logging.Logger, name: str) -> None:
        self._log = log
        self._name = name
        self._began = time.monotonic()
        self._lines = self._characters = self._left_out = 0

    def write(self, level: int, text: str) -> None:
        """Log a line, or count it if there were too many."""
        now = time.monotonic()
        if now - self._began >= SECONDS:
            self.report_dropped()
            self._began, self._lines, self._characters = now, 0, 0
        if self._lines >= MAX_LINES or self._characters >= MAX_CHARACTERS:
            if self._left_out == 0:
                self._log.warning("%s writes too much to log; more lines are only counted", self._name)
            self._left_out += 1
            return
        self._lines += 1
        self._characters += min(len(text), MAX_LINE)
        self._log.log(level, "%s: %s", self._name, text[:MAX_LINE])

    def report_dropped(self) -> None:
        """Log how many lines were left out, if any. Call it when the program has ended, too."""
        left_out, self._left_out = self._left_out, 0
        if left_out:
            self._log.warning("%s: %d lines were left out of this log", self._name, left_out)
