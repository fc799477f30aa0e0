"""The branches of a watched tree: what is known of each folder, and how that is compared with the disk.

Each folder is opened relative to its parent and never through a link, so what is seen is inside the top.
Everything here blocks, and is for one thread at a time.
"""

import os
from collections.abc import Callable

from agenthost.host.files.globs import PathFilter
from agenthost.host.files.params import ChangeType
from agenthost.host.files.watches.changes import ChangeLog
from agenthost.host.files.watches.entries import (
    EntryBudget,
    FolderGone,
    WatchedFolder,
    is_folder,
    open_folder,
    stamp_of,
)
from agenthost.host.files.watches.folder_events import FolderEvents
from agenthost.host.files.watches.marks import Names

__all__ = ["Branches"]

MAX_DEPTH = 100


class Branches:
    """Everything below the top.

    Attributes:
        hidden_in: returns the names in a folder, given by its path, that are hidden.
        is_cut: whether something was left out, because there was too much.
        is_stopped: whether to stop, in any thread.
    """

    def __init__(
        self,
        paths: PathFilter,
        budget: EntryBudget,
        events: FolderEvents,
        log: ChangeLog,
        *,
        recursive: bool,
    ) -> None:
        self.hidden_in: Callable[[str], frozenset[str]] = lambda _path: frozenset()
        self.is_cut = False
        self.is_stopped = False
        self._paths = paths
        self._budget = budget
        self._events = events
        self._log = log
        self._recursive = recursive

    def look_at_marks(self, top: int, marks: dict[WatchedFolder, Names]) -> None:
        """Compare the marked entries with the disk. `top` is the descriptor of the top.

        Raises:
            OSError: something cannot be looked at now.
        """
        todo = dict(sorted(marks.items(), key=lambda one: one[0].depth, reverse=True))
        while todo:
            folder, names = todo.popitem()  # the nearest to the top
            if folder.is_gone:
                continue
            try:
                descriptor = folder.open_below(top)
            except FolderGone:
                # It was moved or replaced: its parent shows what happened to it.
                above = folder.parent and todo.setdefault(folder.parent, {})
                if isinstance(above, dict):
                    above[folder.name] = False
                continue
            try:
                if names is None:
                    self.read(descriptor, folder, folder.path, is_deep=False)
                else:
                    self._look_at_names(descriptor, folder, names)
            finally:
                os.close(descriptor)

    def read(self, descriptor: int, folder: WatchedFolder, path: str, *, is_deep: bool = True) -> None:
        """Compare all entries of a folder; if `is_deep`, those of the folders in it too.

        Raises:
            OSError: something cannot be looked at now.
        """
        hidden = self.hidden_in(path)
        seen: set[str] = set()
        with os.scandir(descriptor) as entries:
            for entry in entries:
                if self.is_stopped:
                    return
                below = _joined(path, entry.name)
                if entry.name in hidden or self._paths.excludes(below):
                    continue
                try:
                    status = entry.stat(follow_symlinks=False)
                except FileNotFoundError:  # gone already
                    continue
                seen.add(entry.name)
                self._meet(descriptor, folder, below, status, is_deep=is_deep)
        for name in list(folder.entries):
            if name not in seen:
                self._lose(folder, _joined(path, name), name)

    def forget(self, folder: WatchedFolder) -> None:
        """Forget what is in a folder, without reporting it."""
        self._budget.give(len(folder.entries))
        while folder.entries:  # one by one: clearing it at once would hold the GIL for a while
            folder.entries.popitem()
        while folder.folders:
            self.drop(folder.folders.popitem()[1])

    def drop(self, folder: WatchedFolder) -> None:
        """Forget a folder that is no longer part of the tree."""
        folder.is_gone = True
        self.forget(folder)
        self._events.stop(folder)

    def _look_at_names(self, descriptor: int, folder: WatchedFolder, names: dict[str, bool]) -> None:
        hidden = self.hidden_in(folder.path)
        for name, is_written in names.items():
            path = _joined(folder.path, name)
            if not name or name in hidden or self._paths.excludes(path):
                continue
            try:
                status = os.stat(name, dir_fd=descriptor, follow_symlinks=False)
            except FileNotFoundError:
                self._lose(folder, path, name)
            else:
                self._meet(descriptor, folder, path, status, is_written=is_written)

    def _meet(
        self,
        above: int,
        folder: WatchedFolder,
        path: str,
        status: os.stat_result,
        *,
        is_deep: bool = False,
        is_written: bool = False,
    ) -> None:
        """Compare one entry with what is known of it."""
        name = path.rpartition("/")[2]
        known, stamp = folder.entries.get(name), stamp_of(status)
        if known is None and not self._budget.take():
            self.is_cut = True
            return
        folder.entries[name] = stamp
        if known != stamp or is_written:
            self._report(folder, path, "added" if known is None else "updated")
        if not self._recursive:
            return
        inner = folder.folders.get(name)
        if not is_folder(status):
            self._lose_content(folder, path, name)
        elif inner is None or known != stamp or is_deep or self._events.is_needed(inner):
            self._enter(above, folder, path, name)

    def _enter(self, above: int, folder: WatchedFolder, path: str, name: str) -> None:
        try:
            descriptor = open_folder(name, above)
        except FolderGone:  # or replaced by a link, or not readable
            self._lose_content(folder, path, name)
            return
        try:
            inner = folder.folders.get(name)
            if inner is None:
                inner = folder.make_inner(name, is_included=self._is_included(folder, path))
                if inner.depth > MAX_DEPTH:
                    return
                folder.folders[name] = inner
            # Subscribe first, then read: changes in between are reported.
            self._events.start(descriptor, inner)
            self.read(descriptor, inner, path)
        finally:
            os.close(descriptor)

    def _lose(self, folder: WatchedFolder, path: str, name: str) -> None:
        """Forget an entry that is gone. If it is a folder, what was in it is not reported."""
        if folder.entries.pop(name, None) is None:
            return
        self._budget.give(1)
        if not self._report(folder, path, "deleted"):
            self._lose_content(folder, path, name)
        elif (inner := folder.folders.pop(name, None)) is not None:
            self.drop(inner)

    def _lose_content(self, folder: WatchedFolder, path: str, name: str) -> None:
        """Forget what was in a folder, and report it: the folder itself still exists, or is not reported."""
        inner = folder.folders.pop(name, None)
        if inner is not None:
            for below in list(inner.entries):
                self._lose(inner, _joined(path, below), below)
            self.drop(inner)

    def _report(self, folder: WatchedFolder, path: str, kind: ChangeType) -> bool:
        """Report a change of a path, if it is included. Return whether it is."""
        is_included = self._is_included(folder, path)
        if is_included:
            self._log.add(path, kind)
        return is_included

    def _is_included(self, folder: WatchedFolder, path: str) -> bool:
        return folder.is_included or self._paths.includes(path)


def _joined(path: str, name: str) -> str:
    return f"{path}/{name}" if path else name
