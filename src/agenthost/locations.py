"""Locations: where this user's data belongs, and where the tokens of their running servers are.

A server that needs a token leaves a note in this user's data folder: a file named after its address, which
says where the token is. Clients of the same user find the token by it, so that nobody has to copy it. The
server holds a lock on its note while it runs. A note without a lock is left over from a crash: another
program may listen on that address now, and must not get the token.
"""

import fcntl
import json
import os
import socket
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

__all__ = ["default_data", "find_token", "read_token", "server_note"]

SERVERS = "servers"
"""The folder of the notes, in the data folder."""

CONNECT_SECONDS = 0.5


def default_data() -> Path:
    """Return the folder where this user's data belongs on this system.

    Raises:
        LookupError: the user has no home folder.
    """
    given = os.environ.get("XDG_DATA_HOME", "")
    if Path(given).is_absolute():  # the XDG specification says to ignore relative ones
        return Path(given, "agenthost")
    try:
        home = Path.home()
    except RuntimeError:
        raise LookupError("this user has no home folder") from None
    is_mac = sys.platform == "darwin"
    return home / ("Library/Application Support" if is_mac else ".local/share") / "agenthost"


def read_token(path: Path) -> str:
    """Return the token in a token file: its first line.

    Raises:
        OSError, ValueError: the file cannot be read.
    """
    return (path.read_text("ascii").splitlines() or [""])[0].strip()


@contextmanager
def server_note(host: str, port: int, token: Path) -> Iterator[None]:
    """Keep a note of a server, with the path of its token, while it runs.

    Raises:
        LookupError, OSError: the note cannot be written.
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
    """Return the token of the server of this user that listens there now; None if there is no such server."""
    if host == "localhost":
        # It may mean ::1 as well, where another program may be listening.
        return None if _is_listening("::1", port) else find_token("127.0.0.1", port)
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


def _is_listening(host: str, port: int) -> bool:
    with suppress(OSError), socket.create_connection((host, port), CONNECT_SECONDS):
        return True
    return False
