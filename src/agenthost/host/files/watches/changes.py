"""The changes that a look has found: one for each path, or none."""

from typing import TypeAlias

from agenthost.host.files.params import ChangeType

__all__ = ["ChangeLog", "Changes"]

Changes: TypeAlias = dict[str, ChangeType]
"""The kind of change, by the path relative to the top, which is empty for the top itself."""

_TOGETHER: dict[tuple[ChangeType, ChangeType], ChangeType] = {
    ("added", "updated"): "added",
    ("deleted", "added"): "updated",
}
"""The result of two changes of one path, where it is not the second of them."""


class ChangeLog:
    """The changes so far.

    Attributes:
        is_open: whether changes are noted; not while a tree is read for the first time.
    """

    def __init__(self) -> None:
        self.is_open = False
        self._found: Changes = {}

    def add(self, path: str, kind: ChangeType) -> None:
        """Note a change. Adding and then deleting a path cancel out."""
        if not self.is_open:
            return
        before = self._found.get(path)
        if before is None:
            self._found[path] = kind
        elif (before, kind) == ("added", "deleted"):
            del self._found[path]
        else:
            self._found[path] = _TOGETHER.get((before, kind), kind)

    def take(self) -> Changes:
        """Return the changes, and forget them."""
        taken, self._found = self._found, {}
        return taken
