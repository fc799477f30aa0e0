"""The environment of this process: its secrets stay readable for Python here, and for no other process.

A process shows its environment, as it was when it began, to everybody of the same user (`/proc/PID/environ`,
`ps e`), and hands it to what it starts. So secrets are taken out of both. `os.environ`, which is a copy that
Python has made, keeps them: agents, models and `$NAME` find them as before.
"""

import ctypes
import os
import re
import sys
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

__all__ = ["conceal", "forbid_looking"]

_NAME = re.compile(
    r"(^|_)(api_?key|key|token|secret|password|passwd|pass|pat|credentials?)s?(_|$)", re.IGNORECASE
)
_VALUE = re.compile(r"://[^/@\s]*:[^/@\s]+@")  # an address with a password in it

PR_SET_DUMPABLE = 4

START, END = 47, 48
"""Where `/proc/self/stat` tells of the environment, counted behind the program's name."""


def conceal(names: Iterable[str] = ()) -> None:
    """Take secrets out of what others can read: these variables, and those that look like one."""
    looks = (name for name, value in os.environ.items() if _NAME.search(name) or _VALUE.search(value))
    found = {name for name in (*names, *looks) if name in os.environ}
    for name in found:
        os.unsetenv(name)  # not `del os.environ[name]`: ours stays
    if sys.platform == "linux" and found:
        with suppress(OSError, ValueError, IndexError):
            _wipe({os.fsencode(name) for name in found})


def _wipe(names: set[bytes]) -> None:
    """Write over what these variables were when the process began."""
    fields = Path("/proc/self/stat").read_text(errors="replace").rpartition(")")[2].split()
    place, end = int(fields[START]), int(fields[END])
    for entry in ctypes.string_at(place, end - place).split(b"\0"):
        if entry.partition(b"=")[0] in names:
            ctypes.memset(place, 0, len(entry))
        place += len(entry) + 1


def forbid_looking() -> None:
    """Let no other process of this user read our memory, nor take it from a core file. On Linux only."""
    if sys.platform == "linux":
        with suppress(OSError, AttributeError):
            ctypes.CDLL(None).prctl(PR_SET_DUMPABLE, 0, 0, 0, 0)
