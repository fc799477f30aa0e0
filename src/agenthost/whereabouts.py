"""Whereabouts: where this user's data belongs, and which of their servers run on this machine.

A server that needs a token leaves a note in this user's data folder: where it listens, and which file has the
token. Our own clients find it there, so that nobody has to copy it. The note is locked as long as the server
runs. One that is not locked was left by a crash: who listens at that address now may be somebody else, and is
told nothing.
"""

import fcntl
import json
import os
import socket
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

__all__ = ["default_data", "find_token", "left_note", "read_token"]

SERVERS = "servers"
"""The folder of the notes."""

CONNECT_SECONDS = 0.5


def default_data() -> Path:
    """Return the folder where this user's data belongs on this system.

    Raises:
        LookupError: the user has no home folder.
    """
    given = os.environ.get("XDG_DATA_HOME", "")
    if Path(given).is_absolute():  # others do not count, says the XDG specification
        return Path(given, "agenthost")
    try:
        home = Path.home()
    except RuntimeError:
        raise LookupError("there is no home folder here") from None
    is_mac = sys.platform == "darwin"
    return home / ("Library/Application Support" if is_mac else ".local/share") / "agenthost"


def read_token(path: Path) -> str:
    """Return the token that a file of ours holds, in its first line.

    Raises:
        OSError, ValueError: it cannot be read.
    """
    return (path.read_text("ascii").splitlines() or [""])[0].strip()


@contextmanager
def left_note(host: str, port: int, token: Path) -> Iterator[None]:
    """Leave a note, as long as the server runs.

    Raises:
        LookupError, OSError: it cannot be left.
    """
    path = _note(host, port)
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    note = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o600)
    try:
        os.fchmod(note, 0o600)
        fcntl.flock(note, fcntl.LOCK_EX)
        os.ftruncate(note, 0)
        os.pwrite(note, json.dumps({"token_file": str(token.absolute())}).encode(), 0)
        yield
        path.unlink(missing_ok=True)
    finally:
        os.close(note)


def find_token(host: str, port: int) -> str | None:
    """Return the token of the server of this user that listens there now; None if there is none."""
    if host == "localhost":
        # It may mean either address, and the other one may be somebody else's.
        return None if _listens("::1", port) else find_token("127.0.0.1", port)
    try:
        with _note(host, port).open("rb") as note:
            if not _is_locked(note.fileno()):
                return None
            return read_token(Path(json.load(note)["token_file"])) or None
    except (LookupError, OSError, ValueError, TypeError):
        return None


def _note(host: str, port: int) -> Path:
    return default_data() / SERVERS / f"{host.replace(':', '_')}-{port}.json"


def _is_locked(file: int) -> bool:
    try:
        fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    return False


def _listens(host: str, port: int) -> bool:
    with suppress(OSError), socket.create_connection((host, port), CONNECT_SECONDS):
        return True
    return False
