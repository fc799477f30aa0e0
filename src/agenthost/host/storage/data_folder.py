"""The data folder: readable by its owner alone, and locked by one process at a time.

The lock is the kernel's (`flock`). It ends with the process that holds it, however that ends, so a lock file
left after a crash means nothing. Its content is only for the error message that a second process gets.
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
MAX_COMMAND = 200


class DataFolder:
    """A folder that this process can lock for itself."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock: int | None = None

    def acquire(self) -> None:
        """Create the folder if it is missing, and lock it.

        Raises:
            StorageInUse: another process holds the lock.
            StorageError: the folder cannot be created or written.
        """
        try:
            # The mode is for a new folder. An existing one keeps the mode that its owner chose.
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
        """Return the path of a file in the folder. If missing, it is created empty, for its owner alone."""
        path = self.path / name
        try:
            os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
            sync_folder(self.path)  # otherwise a power cut could remove the file and everything synced to it
        except FileExistsError:
            pass
        except OSError as error:
            raise StorageError(_cannot_use(self.path, error)) from error
        return path

    def release(self) -> None:
        """Release the lock. The lock file stays: removing it could let two processes in."""
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
    """Return the mode of a folder, such as 0755, if anyone but its owner can access it."""
    mode = stat.S_IMODE(path.stat().st_mode)
    return f"{mode:04o}" if mode & 0o077 else None


def _sign(lock: int) -> None:
    """Write into the lock file who holds it."""
    mine = {
        "pid": os.getpid(),
        "since": datetime.now(UTC).isoformat(sep=" ", timespec="seconds"),
        "command": shlex.join(sys.argv)[:MAX_COMMAND],
    }
    os.ftruncate(lock, 0)
    os.pwrite(lock, json.dumps(mine).encode() + b"\n", 0)


def _holder(lock: int) -> str:
    """Describe who holds the lock. The holder may not have signed yet."""
    try:
        found = json.loads(os.pread(lock, 4096, 0))
        pid, since, command = int(found["pid"]), str(found["since"]), str(found["command"])
    except (OSError, ValueError, KeyError, TypeError):
        return "another process"
    who = "this same process" if pid == os.getpid() else f"process {pid} ({command})"
    return f"{who} since {since}"


def replace_file(path: Path, data: bytes) -> None:
    """Replace a file atomically, for its owner alone. After a crash it has the old content or the new."""
    fresh = path.with_name(f"{path.name}.new")
    # An earlier crash may have left a file there, with any mode.
    fresh.unlink(missing_ok=True)
    with os.fdopen(os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
    fresh.replace(path)
    sync_folder(path.parent)


def sync_folder(path: Path) -> None:
    """Sync a folder, so that the names of its files survive a power cut."""
    folder = os.open(path, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)


def _cannot_use(path: Path, error: OSError) -> str:
    return f"{path} cannot be used ({error.strerror}); check who may write there, and that the disk has room"
