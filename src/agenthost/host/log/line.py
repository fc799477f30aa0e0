"""The line: everything that this host shows, in the order of its sequence numbers.

Items are shown once their group is committed: then the store has given the group its base, the number before
the first of its items.
"""

from collections.abc import Callable, Iterable
from typing import Any, ClassVar, Protocol

import msgspec

__all__ = ["Line", "Mark", "Placed"]

# Items are frozen structs, and only their numbers are still missing.
_set_field: Callable[[Any, str, Any], None] = msgspec.structs.force_setattr


class Placed(Protocol):
    """A struct with a place in the order. `seq` is set when its place is reached, then `show` is called."""

    @property
    def count(self) -> int:
        """How many numbers it takes; it has the last of them."""

    @property
    def show(self) -> Callable[[Any], None] | None:
        """Called with the struct itself."""


class Mark(msgspec.Struct, gc=False):
    """A place between two items. `seq` is the number of the last item before it, once that was shown."""

    count: ClassVar[int] = 0
    show: ClassVar[None] = None

    seq: int | None = None


class Line:
    """Shows things. `shown_seq` is the number of the newest envelope that is durable and was shown."""

    is_shared = False
    """Whether other nodes write too: see `shared_line`."""

    def __init__(self, shown_seq: int) -> None:
        self.shown_seq = shown_seq

    async def wait_for(self, seq: int, seconds: float | None = None) -> bool:
        """Return whether this number was shown; other nodes may show it later."""
        return seq <= self.shown_seq

    async def check_ahead(self, _seq: int) -> None:
        """Refuse a number that other nodes have shown, and this one has not. There are none."""

    def show(self, items: Iterable[Placed], base: int, last_seq: int) -> None:
        """Show the items of a committed group, numbered from its base up to `last_seq`."""
        # No await in here, so nobody can see a number whose item was not shown yet.
        self.shown_seq = last_seq
        seq = base
        for item in items:
            seq += item.count
            _set_field(item, "seq", seq)
            if item.show is not None:
                item.show(item)
