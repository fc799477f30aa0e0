"""The environment of this process: its secrets stay readable for our own code, but not for other processes.

A process exposes its initial environment to every process of the same user (`/proc/PID/environ`, `ps e`), and
passes its environment to its children. Secrets are removed from both. `os.environ`, a copy made by Python,
keeps them: agents, models and `$NAME` find them as before.
"""

import ctypes
import os
import re
import sys
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from urllib.parse import quote

__all__ = ["forbid_inspection", "hide_argument", "hide_secrets"]

_NAME = re.compile(
    r"(^|_)(api_?key|pgpassword|key|token|secret|password|passwd|pass|pat|credentials?)s?(_|$)", re.IGNORECASE
)
_VALUE = re.compile(r"://[^/@\s]*:[^/@\s]+@")  # an address with a password in it

PR_SET_DUMPABLE = 4

ARGUMENTS, ARGUMENTS_END = 45, 46
START, END = 47, 48
"""The fields of `/proc/self/stat` with the bounds of the arguments and of the environment, counted after the
program's name."""


def hide_secrets(names: Iterable[str] = ()) -> None:
    """Hide secrets from other processes: these variables, and those that look like secrets."""
    looks = (name for name, value in os.environ.items() if _NAME.search(name) or _VALUE.search(value))
    found = {name for name in (*names, *looks) if name in os.environ}
    for name in found:
        os.unsetenv(name)  # not `del os.environ[name]`: Python's copy keeps it
    if sys.platform == "linux" and found:
        with suppress(OSError, ValueError, IndexError):
            _wipe({os.fsencode(name) for name in found})


def _wipe(names: set[bytes]) -> None:
    """Overwrite these variables in the initial environment of the process."""
    fields = Path("/proc/self/stat").read_text(errors="replace").rpartition(")")[2].split()
    place, end = int(fields[START]), int(fields[END])
    for entry in ctypes.string_at(place, end - place).split(b"\0"):
        if entry.partition(b"=")[0] in names:
            ctypes.memset(place, 0, len(entry))
        place += len(entry) + 1


def hide_argument(secret: str | None) -> None:
    """Overwrite a secret in the arguments of this process, which everybody on the machine can read."""
    if sys.platform != "linux" or not secret:
        return
    with suppress(OSError, ValueError, IndexError):
        fields = Path("/proc/self/stat").read_text(errors="replace").rpartition(")")[2].split()
        place, end = int(fields[ARGUMENTS]), int(fields[ARGUMENTS_END])
        found, wanted = ctypes.string_at(place, end - place), {os.fsencode(secret), quote(secret).encode()}
        for one in wanted:
            for match in re.finditer(re.escape(one), found):
                ctypes.memset(place + match.start(), ord("*"), len(one))


def forbid_inspection() -> None:
    """Keep other processes of this user from reading our memory, and disable core dumps. Linux only."""
    if sys.platform == "linux":
        with suppress(OSError, AttributeError):
            ctypes.CDLL(None).prctl(PR_SET_DUMPABLE, 0, 0, 0, 0)
