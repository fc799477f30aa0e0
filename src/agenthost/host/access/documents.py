"""Documents: small pieces of data that are read and replaced as a whole, such as the list of keys.

They are files in the data folder, or rows of a store that several machines can reach.
"""

import fcntl
import os
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Protocol

from agenthost.host.storage.data_folder import replace_file

__all__ = ["Document", "FileDocument"]


class Document(Protocol):
    """One of them. Methods raise `StorageError` or `OSError` when they fail, and then nothing has changed."""

    @property
    def place(self) -> str:
        """Where it is, for people."""

    def read(self) -> bytes | None:
        """Return what it contains; `None` if there is none."""

    def replace(self, data: bytes) -> None:
        """Replace what it contains, all at once."""

    def lock(self) -> AbstractContextManager[None]:
        """Keep others from replacing it meanwhile."""

    def stamp(self) -> object:
        """Return what tells its versions apart. Never blocks for long."""


class FileDocument:
    """A file. Its lock is another file, and ends with the process that holds it."""

    def __init__(self, path: Path, lock: str = "") -> None:
        self.path = path
        self._lock = path.with_name(lock or f"{path.name}.lock")

    @property
    def place(self) -> str:
        """Its path."""
        return str(self.path)

    def read(self) -> bytes | None:
        """Return what it contains; `None` if there is no such file."""
        try:
            return self.path.read_bytes()
        except FileNotFoundError:
            return None

    def replace(self, data: bytes) -> None:
        """Replace the file with another one. Its folder is made if needed."""
        self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        replace_file(self.path, data)

    @contextmanager
    def lock(self) -> Iterator[None]:
        """Lock it against changes by others."""
        self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        lock = os.open(self._lock, os.O_RDWR | os.O_CREAT, 0o600)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield
        finally:
            os.close(lock)

    def stamp(self) -> object:
        """Return what tells versions of the file apart: every change makes a new one."""
        try:
            found = self.path.stat()
        except OSError as error:
            return None if isinstance(error, FileNotFoundError) else (error.errno or 0,)
        return found.st_mtime_ns, found.st_size, found.st_ino
