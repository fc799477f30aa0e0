"""Marks: where something may have changed since the last look. Their number is bounded."""

from threading import Lock
from typing import Generic, TypeAlias, TypeVar

__all__ = ["Marks", "Names"]

F = TypeVar("F")

MAX_NAMES = 1_000
MAX_NAMES_IN_ALL = 4_000
"""How many names are remembered per folder, and in total. Beyond that, the whole folder is compared."""

MAX_FOLDERS = 1_000
"""How many folders are remembered. Beyond that, everything is compared."""

Names: TypeAlias = dict[str, bool] | None
"""Names in a folder, and whether each was written for sure; `None` stands for all of them."""


class Marks(Generic[F]):
    """The marks of a tree with folders `F`. May be used in any thread."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._folders: dict[F, Names] | None = {}
        self._count = 0

    def add(self, folder: F, name: str, *, is_written: bool) -> None:
        """Mark a name in a folder."""
        with self._lock:
            if self._folders is None:
                return
            names = self._folders.setdefault(folder, {})
            if names is None:
                return
            self._count += name not in names
            names[name] = names.get(name, False) or is_written
            if len(names) > MAX_NAMES or self._count > MAX_NAMES_IN_ALL:
                self._count -= len(names)
                self._folders[folder] = None
            if len(self._folders) > MAX_FOLDERS:
                self._folders = None

    def add_everything(self) -> None:
        """Mark all folders."""
        with self._lock:
            self._folders = None

    def take(self) -> dict[F, Names] | None:
        """Return the marks, and forget them; `None` stands for everything."""
        with self._lock:
            taken, self._folders, self._count = self._folders, {}, 0
            return taken
