"""Events of the system about the folders of one watched tree, as long as there are any."""

from agenthost.host.files.watches.entries import WatchedFolder
from agenthost.host.files.watches.notifier import Notifier

__all__ = ["FolderEvents"]


class FolderEvents:
    """The subscriptions of one tree to events.

    Attributes:
        is_over: whether there are no events, so that everything has to be polled.
    """

    def __init__(self, notifier: Notifier | None) -> None:
        self.is_over = notifier is None
        self._notifier = notifier

    def start(self, descriptor: int, folder: WatchedFolder) -> None:
        """Subscribe to the events of an open folder or file, from now on."""
        if self._notifier is None or self.is_over:
            return
        try:
            watch = self._notifier.add(descriptor, folder)
        except OSError:
            # The kernel has no watches left. Free ours for others: we have to poll everything anyway.
            self.is_over = True
            self._stop_all(folder.top)
            return
        if folder.watch != watch:
            self.stop(folder)
        folder.watch = watch

    def stop(self, folder: WatchedFolder) -> None:
        """Unsubscribe from the events of a folder."""
        watch, folder.watch = folder.watch, None
        if self._notifier is not None and watch is not None:
            self._notifier.remove(watch, folder)

    def is_needed(self, folder: WatchedFolder) -> bool:
        """Return whether a folder has no subscription: another one may have its name and number now."""
        return folder.watch is None and not self.is_over

    def _stop_all(self, folder: WatchedFolder) -> None:
        self.stop(folder)
        for inner in folder.folders.values():
            self._stop_all(inner)
