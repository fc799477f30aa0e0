"""The watched tree: what is known of a file or folder, and of everything in it.

Nothing is reported from an event: events only say where to look. Changes are found by walking there within
the jail. Everything that happened to a name between two comparisons is one change, or none.
"""

import os
from collections.abc import Callable
from dataclasses import dataclass
from threading import Lock

from agenthost.errors import ResourceError, ResourceNotFound, TooMany
from agenthost.host.files.globs import PathFilter
from agenthost.host.files.jail import READ, Jail, Place
from agenthost.host.files.uris import Parts, Target
from agenthost.host.files.watches.branches import Branches
from agenthost.host.files.watches.changes import ChangeLog, Changes
from agenthost.host.files.watches.entries import EntryBudget, WatchedFolder, is_folder, stamp_of
from agenthost.host.files.watches.folder_events import FolderEvents
from agenthost.host.files.watches.marks import Marks, Names
from agenthost.host.files.watches.notifier import Notifier

__all__ = ["TreeOptions", "WatchedTree"]

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_ANY = getattr(os, "O_PATH", os.O_RDONLY | os.O_NONBLOCK) | os.O_NOFOLLOW | os.O_CLOEXEC

_MISSING = None


@dataclass(frozen=True, slots=True)
class TreeOptions:
    """The options of a watched tree.

    Attributes:
        target: the file or folder at the top.
        paths: which paths below it are reported.
        recursive: whether folders in the folder are watched too.
    """

    target: Target
    paths: PathFilter
    recursive: bool


class WatchedTree:
    """The known state of a file or folder. Call `look` in one thread at a time, `mark` in any."""

    def __init__(
        self,
        options: TreeOptions,
        budget: EntryBudget,
        notifier: Notifier | None,
        wake: Callable[[], None],
    ) -> None:
        """Watch nothing yet. `wake` is called when there is something to look at."""
        self._target = options.target
        self._includes_all = options.paths.includes_all
        self._wake = wake
        self._budget = budget
        self._marks: Marks[WatchedFolder] = Marks()
        self._log = ChangeLog()
        self._events = FolderEvents(notifier)
        self._branches = Branches(options.paths, budget, self._events, self._log, recursive=options.recursive)
        self._looking = Lock()
        self._top = self._new_top()
        self._stamp: int | None = _MISSING

    @property
    def is_missing(self) -> bool:
        """Whether nothing is there."""
        return self._stamp is _MISSING

    @property
    def is_polled(self) -> bool:
        """Whether there are no events, so that everything has to be polled."""
        return self._events.is_over

    def start(self, jail: Jail) -> None:
        """Read the current state.

        Raises:
            ResourceError: it may not be read.
            TooMany: there is more than may be watched.
        """
        self.look(jail)
        if self._branches.is_cut:
            raise TooMany("what is watched", self._budget.most)
        self._log.is_open = True

    def mark(self, folder: WatchedFolder, name: str, *, is_written: bool) -> None:
        """Note that something may have happened to a name, or to the folder itself if it is empty."""
        if name or folder.parent is None:
            self._marks.add(folder, name, is_written=is_written)
        else:
            self._marks.add(folder.parent, folder.name, is_written=False)
        self._wake()

    def mark_everything(self) -> None:
        """Note that something may have happened anywhere."""
        self._marks.add_everything()
        self._wake()

    def look(self, jail: Jail) -> Changes:
        """Compare the marked entries with the disk. Return the changes.

        Raises:
            ResourceDenied: it may no longer be read.
            ResourceError: it cannot be read now. Nothing is lost: the next call finds it all.
        """
        with self._looking:
            if self._branches.is_stopped:
                return {}
            marks = self._marks.take()
            try:
                self._look(jail, None if self.is_polled else marks)
            except ResourceError:
                self._marks.add_everything()
                raise
            return self._log.take()

    def stop(self) -> None:
        """End a comparison that is under way, and allow no other. May be called in any thread."""
        self._branches.is_stopped = True

    def close(self) -> None:
        """Forget everything, once a comparison that is under way has ended."""
        self.stop()
        with self._looking:
            self._branches.drop(self._top)

    def _look(self, jail: Jail, marks: dict[WatchedFolder, Names] | None) -> None:
        try:
            with jail.place(self._target, READ, follow=True) as place:
                self._branches.hidden_in = _hidden_names(jail, place.path)
                self._look_at_top(place, marks)
        except ResourceNotFound:
            self._lose_top()

    def _look_at_top(self, place: Place, marks: dict[WatchedFolder, Names] | None) -> None:
        is_container = is_folder(place.require_status())
        # A link that was put there since is not opened, and then nothing is here.
        descriptor = os.open(place.name, _FOLDER if is_container else _ANY, dir_fd=place.folder)
        try:
            stamp = stamp_of(os.fstat(descriptor))
            was_written = marks is not None and (marks.get(self._top) or {}).get("", False)
            is_same = stamp == self._stamp
            if self.is_missing:
                self._log.add("", "added")
            elif not is_same or was_written:
                self._log.add("", "updated")
            self._stamp = stamp
            if not is_same or self._events.is_needed(self._top):
                self._events.start(descriptor, self._top)
                marks = None
            if is_container:
                self._look_inside(descriptor, marks)
            else:
                self._branches.forget(self._top)
        finally:
            os.close(descriptor)

    def _look_inside(self, top: int, marks: dict[WatchedFolder, Names] | None) -> None:
        try:
            if marks is None:
                self._branches.read(top, self._top, "")
            else:
                self._branches.look_at_marks(top, marks)
        except OSError as error:  # too many open files, or a disk that fails: not about the top
            raise ResourceError(f"what is watched cannot be looked at: {error.strerror}") from error

    def _lose_top(self) -> None:
        if self.is_missing:
            return
        self._log.add("", "deleted")
        self._branches.drop(self._top)
        self._top = self._new_top()
        self._stamp = _MISSING

    def _new_top(self) -> WatchedFolder:
        return WatchedFolder(self, None, "", is_included=self._includes_all)


def _hidden_names(jail: Jail, top: Parts) -> Callable[[str], frozenset[str]]:
    return lambda path: jail.hidden_in((*top, *path.split("/")) if path else top)
