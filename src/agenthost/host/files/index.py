"""The index of a tree: all its names in memory, found by walking it and updated from what has changed.

A folder with an unchanged modification time has the same entries and is not read again. Links are not
followed; `.git` and ignored folders are not entered. Everything here blocks: use it in a thread.
"""

import os
import stat
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from typing import NamedTuple

from agenthost.errors import HostError
from agenthost.host.files.ignore_rules import IgnoreRules
from agenthost.host.files.jail import READ, Jail
from agenthost.host.files.reader import opened_folder
from agenthost.host.files.snapshot import Snapshot
from agenthost.host.files.uris import Parts, Target, uri_of

__all__ = ["FileIndex", "IndexLimits", "read_rules"]

RULES = ".gitignore"
SKIPPED = frozenset({".git"})
MAX_RULES_BYTES = 128 * 1024
"""A longer file is not a real `.gitignore`, and matching it against each name would be slow."""

RACY_NS = 2_000_000_000
"""A folder that changed this recently may change again within the resolution of its timestamp."""

PATH_CHARACTERS = 128
"""How long the path of a folder may be before its entries count twice."""

NO_STAMP = (0, 0, 0)

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


@dataclass(frozen=True, slots=True)
class IndexLimits:
    """How much of a tree is indexed.

    Attributes:
        entries: how many files and folders; the rest is left out.
        depth: how deep folders may be nested.
        seconds: how long one walk may take; what it does not reach is left out until the next.
    """

    entries: int = 250_000
    depth: int = 60
    seconds: float = 60.0


@dataclass(slots=True)
class _Folder:
    """The entries of a folder when it was read; `stamp` tells whether they are up to date."""

    stamp: tuple[int, int] | None = None
    rules_stamp: tuple[int, int, int] | None = None
    rules: IgnoreRules | None = None
    files: list[str] = field(default_factory=list)
    folders: dict[str, "_Folder"] = field(default_factory=dict)


class _Where(NamedTuple):
    """Where a walk is: its path, the rules from above, and whether these have changed."""

    path: str = ""
    rules: IgnoreRules | None = None
    depth: int = 0
    is_stale: bool = False


class FileIndex:
    """The names of one tree. `refresh` is for one thread at a time, `snapshot` for all."""

    def __init__(self, top: Parts, limits: IndexLimits | None = None) -> None:
        self.top = top
        self.limits = limits or IndexLimits()
        self.is_built = False
        self._snapshot = Snapshot(())
        self._tree = _Folder()
        self._so_far: list[str] = []
        self._left = 0
        self._deadline = 0.0
        self._has_changed = False
        self._stopped = threading.Event()
        self._jail: Jail | None = None

    @property
    def snapshot(self) -> Snapshot:
        """The names that are known; during the first walk, those found so far."""
        if self.is_built or not self._so_far:
            return self._snapshot
        return Snapshot(self._so_far.copy(), is_whole=False)

    def stop(self) -> None:
        """End a running walk early, for good."""
        self._stopped.set()

    def refresh(self, jail: Jail) -> None:
        """Walk the tree again. One that does not exist, or may not be read, counts as empty."""
        self._left = self.limits.entries
        self._deadline = time.monotonic() + self.limits.seconds
        self._has_changed = not self.is_built
        self._jail = jail
        try:
            with (
                jail.place(Target(uri_of(self.top), self.top), READ) as place,
                opened_folder(place) as folder,
            ):
                self._visit(folder, self._tree, _Where())
        except (OSError, HostError):
            self._has_changed = True
            self._tree = _Folder()
        if self._has_changed:
            self._snapshot = Snapshot(_flat(self._tree, ""), is_whole=self._left > 0)
        self.is_built = True
        self._so_far = []

    def _visit(self, descriptor: int, folder: _Folder, where: _Where) -> None:
        """Update one folder and everything in it."""
        is_stale = _read_rules(descriptor, folder, where)
        rules = folder.rules or where.rules
        status = os.fstat(descriptor)
        stamp = (status.st_mtime_ns, status.st_ino)
        if is_stale or folder.stamp != stamp:
            # The stamp was taken before reading: a change in between is noticed the next time.
            self._read(descriptor, folder, where.path, rules)
            folder.stamp = None if _is_racy(status) or self._is_enough() else stamp
        # Long paths count more than once: all of them are kept in memory and searched.
        self._left -= (len(folder.files) + len(folder.folders)) * (1 + len(where.path) // PATH_CHARACTERS)
        if where.depth >= self.limits.depth:
            return
        for name, inner in folder.folders.items():
            if self._is_enough():
                # Entries found under rules that have changed are no longer valid.
                folder.folders[name] = _Folder() if is_stale else inner
                continue
            below = _Where(f"{where.path}{name}/", rules, where.depth + 1, is_stale)
            self._enter(descriptor, name, inner, below)

    def _enter(self, above: int, name: str, folder: _Folder, where: _Where) -> None:
        try:
            descriptor = os.open(name, _FOLDER, dir_fd=above)
        except OSError:  # gone, swapped for a link, or not ours to read
            self._has_changed = self._has_changed or bool(folder.files or folder.folders)
            folder.stamp, folder.files, folder.folders = None, [], {}
            return
        try:
            self._visit(descriptor, folder, where)
        finally:
            os.close(descriptor)

    def _read(self, descriptor: int, folder: _Folder, path: str, rules: IgnoreRules | None) -> None:
        """Read the entries of a folder. What is known of subfolders that still exist is kept."""
        files: list[str] = []
        folders: dict[str, _Folder] = {}
        with os.scandir(descriptor) as found:
            for entry in found:
                name = entry.name
                if name in SKIPPED or not name.isprintable():  # it could not be typed or shown
                    continue
                is_folder = entry.is_dir(follow_symlinks=False)
                if rules is not None and rules.leaves_out(path + name, is_folder=is_folder):
                    continue
                if is_folder and self._may_enter(path + name):
                    folders[name] = folder.folders.get(name) or _Folder()
                elif not is_folder:
                    files.append(name)
                if len(files) + len(folders) >= self._left or self._is_enough():
                    break
        if files != folder.files or folders.keys() != folder.folders.keys():
            self._has_changed = True
        folder.files, folder.folders = files, folders
        if not self.is_built:
            self._so_far += [path + name for name in files]
            self._so_far += [f"{path}{name}/" for name in folders]

    def _is_enough(self) -> bool:
        """Return whether the walk ends here. Past its deadline, it leaves the rest out."""
        if time.monotonic() > self._deadline:
            self._left = 0
        return self._left <= 0 or self._stopped.is_set()

    def _may_enter(self, path: str) -> bool:
        """Return whether a folder is not hidden: the host's own data may be in the workspace."""
        return self._jail is None or self._jail.may((*self.top, *path.split("/")), READ)


def _is_racy(status: os.stat_result) -> bool:
    return time.time_ns() - status.st_mtime_ns < RACY_NS


def _read_rules(descriptor: int, folder: _Folder, where: _Where) -> bool:
    """Read the rules of a folder if they changed. Return whether they, or rules above them, did."""
    stamp = None
    is_racy = False
    with suppress(OSError):
        status = os.stat(RULES, dir_fd=descriptor, follow_symlinks=False)
        if stat.S_ISREG(status.st_mode) and status.st_size <= MAX_RULES_BYTES:
            stamp = (status.st_mtime_ns, status.st_size, status.st_ino)
            is_racy = _is_racy(status)
    is_new = stamp != folder.rules_stamp
    if is_new or where.is_stale:
        folder.rules = (
            None if stamp is None else IgnoreRules(read_rules(descriptor), where.rules, where.depth)
        )
        folder.rules_stamp = NO_STAMP if is_racy else stamp
    return is_new or where.is_stale


def read_rules(folder: int) -> str:
    """Read the `.gitignore` of an open folder; empty if there is none."""
    try:
        descriptor = os.open(RULES, _FILE, dir_fd=folder)
    except OSError:
        return ""
    with os.fdopen(descriptor, "rb") as file:
        return file.read(MAX_RULES_BYTES).decode(errors="replace")


def _flat(folder: _Folder, path: str) -> Iterator[str]:
    for name in folder.files:
        yield path + name
    for name, inner in folder.folders.items():
        yield f"{path}{name}/"
        yield from _flat(inner, f"{path}{name}/")
