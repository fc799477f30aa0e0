"""The data folder: made for its owner alone, and held by one process at a time.

Knows files and locks, nothing of what is kept in them. The lock is the kernel's (`flock`): it goes with the
process that holds it, however that ends, so a lock file that is still there after a crash means nothing.
What is written in it is only for the sentence that a second process is refused with.
"""

import fcntl
import json
import os
import shlex
import stat
import sys
from datetime import UTC, datetime
from pathlib import Path

from agenthost.errors import StorageError, StorageInUse

LOCK = "lock"
LONGEST_COMMAND = 200


class DataFolder:
    """A folder that this process may hold for itself."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock: int | None = None

    def hold(self) -> None:
        """Make the folder where it is missing, and take it.

        Raises:
            StorageInUse: another process has it.
            StorageError: it cannot be made or written.
        """
        try:
            # The mode is of the folder that we make; one that is there keeps what its owner gave it.
            self.path.mkdir(mode=0o700, parents=True, exist_ok=True)
            lock = os.open(self.path / LOCK, os.O_RDWR | os.O_CREAT, 0o600)
        except FileExistsError:
            raise StorageError(f"{self.path} is not a folder; name another one for the data") from None
        except OSError as error:
            raise StorageError(_cannot_use(self.path, error)) from error
        try:
            self._take(lock)
        except BaseException:
            os.close(lock)
            raise
        self._lock = lock

    def make_file(self, name: str) -> Path:
        """Give the path of a file in the folder; a new one is empty, and its owner's alone."""
        path = self.path / name
        try:
            os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
            sync_folder(self.path)  # else a power cut could take the file, with all that was synced into it
        except FileExistsError:
            pass
        except OSError as error:
            raise StorageError(_cannot_use(self.path, error)) from error
        return path

    def let_go(self) -> None:
        """Let the next one have it. The lock file stays: removing it would let two in at once."""
        lock, self._lock = self._lock, None
        if lock is not None:
            os.close(lock)

    def _take(self, lock: int) -> None:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise StorageInUse(
                f"{self.path} is in use by {_holder(lock)}; stop that one first, or name another folder"
            ) from None
        except OSError as error:
            raise StorageError(
                f"{self.path} cannot be locked ({error.strerror}); use a folder on a local disk"
            ) from error
        try:
            _sign(lock)
        except OSError as error:
            raise StorageError(_cannot_use(self.path, error)) from error


def mode_for_others(path: Path) -> str | None:
    """Return the mode of a folder, such as 0755, if others than its owner may look into it."""
    mode = stat.S_IMODE(path.stat().st_mode)
    return f"{mode:04o}" if mode & 0o077 else None


def _sign(lock: int) -> None:
    """Write down who holds the lock."""
    mine = {
        "pid": os.getpid(),
        "since": datetime.now(UTC).isoformat(sep=" ", timespec="seconds"),
        "command": shlex.join(sys.argv)[:LONGEST_COMMAND],
    }
    os.ftruncate(lock, 0)
    os.pwrite(lock, json.dumps(mine).encode() + b"\n", 0)


def _holder(lock: int) -> str:
    """Say who holds the lock, from what it wrote; it may be about to."""
    try:
        found = json.loads(os.pread(lock, 4096, 0))
        pid, since, command = int(found["pid"]), str(found["since"]), str(found["command"])
    except (OSError, ValueError, KeyError, TypeError):
        return "another process"
    who = "this same process" if pid == os.getpid() else f"process {pid} ({command})"
    return f"{who} since {since}"


def replace_file(path: Path, data: bytes) -> None:
    """Let a file hold this, for its owner alone: all of it or what it held before, whenever a crash comes."""
    fresh = path.with_name(f"{path.name}.new")
    # What an earlier crash left there goes first, because its mode could be any.
    fresh.unlink(missing_ok=True)
    with os.fdopen(os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
    fresh.replace(path)
    sync_folder(path.parent)


def sync_folder(path: Path) -> None:
    """Let the names of the files in a folder survive a power cut."""
    folder = os.open(path, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)


def _cannot_use(path: Path, error: OSError) -> str:
    return f"{path} cannot be used ({error.strerror}); check who may write there, and that the disk has room"
