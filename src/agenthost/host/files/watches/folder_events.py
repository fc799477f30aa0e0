"""Listening: how a tree is told of changes, as long as the system can."""

from agenthost.host.files.watches.entries import WatchedFolder
from agenthost.host.files.watches.notifier import Notifier

__all__ = ["Listening"]


class Listening:
    """What one tree listens to.

    Attributes:
        is_over: whether nobody tells of changes, so that everything has to be looked at.
    """

    def __init__(self, notifier: Notifier | None) -> None:
        self.is_over = notifier is None
        self._notifier = notifier

    def start(self, descriptor: int, folder: WatchedFolder) -> None:
        """Listen to an open folder, or file, from now on."""
        if self._notifier is None or self.is_over:
            return
        try:
            watch = self._notifier.add(descriptor, folder)
        except OSError:
            # The kernel has no more watches. Others may use ours, as we have to look everywhere anyway.
            self.is_over = True
            self._stop_all(folder.top)
            return
        if folder.watch != watch:
            self.stop(folder)
        folder.watch = watch

    def stop(self, folder: WatchedFolder) -> None:
        """Listen to a folder no more."""
        watch, folder.watch = folder.watch, None
        if self._notifier is not None and watch is not None:
            self._notifier.remove(watch, folder)

    def is_needed(self, folder: WatchedFolder) -> bool:
        """Return whether a folder is not listened to: another one may have its name and number now."""
        return folder.watch is None and not self.is_over

    def _stop_all(self, folder: WatchedFolder) -> None:
        self.stop(folder)
        for inner in folder.folders.values():
            self._stop_all(inner)
