"""The entries of watched folders that are remembered, and the limit on their number."""

import errno
import os
import stat
from threading import Lock
from typing import Protocol

__all__ = ["EntryBudget", "FolderGone", "Tree", "WatchedFolder", "is_folder", "open_folder", "stamp_of"]

_GONE = (errno.ENOENT, errno.ENOTDIR, errno.ELOOP, errno.EACCES, errno.EPERM, errno.ENAMETOOLONG)
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


class FolderGone(Exception):
    """A folder is gone, is a link now, or may not be read."""


def open_folder(name: str, above: int) -> int:
    """Open a folder in an open folder, and never through a link.

    Raises:
        FolderGone: it is not there, or may not be read.
        OSError: it cannot be opened now, for another reason.
    """
    try:
        return os.open(name, _FOLDER, dir_fd=above)
    except OSError as error:
        if error.errno in _GONE:
            raise FolderGone from None
        raise


class Tree(Protocol):
    """The tree that a folder belongs to."""

    def mark(self, folder: "WatchedFolder", name: str, *, is_written: bool) -> None:
        """Note that something may have happened."""


class WatchedFolder:
    """A folder: the stamps of its entries, and those of its folders that are watched too.

    Attributes:
        depth: how deep it is below the top.
        is_gone: whether it is no longer part of the tree.
        is_included: whether everything in it is reported.
        watch: its number with the notifier.
    """

    __slots__ = ("_tree", "depth", "entries", "folders", "is_gone", "is_included", "name", "parent", "watch")

    def __init__(self, tree: Tree, parent: "WatchedFolder | None", name: str, *, is_included: bool) -> None:
        self._tree = tree
        self.parent = parent
        self.name = name
        self.depth: int = 0 if parent is None else parent.depth + 1
        self.entries: dict[str, int] = {}
        self.folders: dict[str, WatchedFolder] = {}
        self.is_gone = False
        self.is_included = is_included
        self.watch: int | None = None

    def make_inner(self, name: str, *, is_included: bool) -> "WatchedFolder":
        """Return a folder in this one, without adding it."""
        return WatchedFolder(self._tree, self, name, is_included=is_included)

    def notice(self, name: str, *, is_written: bool) -> None:
        """Note that something may have happened to a name in the folder, or to the folder itself."""
        self._tree.mark(self, name, is_written=is_written)

    def notice_end(self, watch: int) -> None:
        """Note that there will be no more events for this number."""
        if self.watch == watch:
            self.watch = None
        self._tree.mark(self, "", is_written=False)

    @property
    def top(self) -> "WatchedFolder":
        """The folder at the top."""
        return self if self.parent is None else self.parent.top

    @property
    def path(self) -> str:
        """Its path, relative to the top."""
        return "/".join(self._names())

    def open_below(self, top: int) -> int:
        """Open it, starting from the open top, without following a link.

        Raises:
            FolderGone: it is no longer there.
        """
        descriptor = os.dup(top)
        for name in self._names():
            try:
                following = open_folder(name, descriptor)
            finally:
                os.close(descriptor)
            descriptor = following
        return descriptor

    def _names(self) -> list[str]:
        names: list[str] = []
        folder = self
        while folder.parent is not None:
            names.append(folder.name)
            folder = folder.parent
        return names[::-1]


class EntryBudget:
    """How many entries the watches of an owner may still remember. May be used in any thread.

    Attributes:
        most: how many there may be in total.
    """

    def __init__(self, most: int) -> None:
        self.most = most
        self._left = most
        self._lock = Lock()

    def take(self) -> bool:
        """Count an entry. Return whether it may be remembered."""
        with self._lock:
            if self._left <= 0:
                return False
            self._left -= 1
            return True

    def give(self, count: int) -> None:
        """Return entries to the budget."""
        with self._lock:
            self._left += count


def is_folder(status: os.stat_result) -> bool:
    """Return whether this is the status of a folder."""
    return stat.S_ISDIR(status.st_mode)


def stamp_of(status: os.stat_result) -> int:
    """Return a number that is different after any change. For a folder, its contents do not count."""
    identity = status.st_dev, status.st_ino, status.st_mode, status.st_uid, status.st_gid
    if stat.S_ISDIR(status.st_mode):
        return hash(identity)
    return hash((identity, status.st_size, status.st_mtime_ns, status.st_ctime_ns))
