"""A terminal as a resource: its state, changed by actions alone, and what was shown of late.

Its actions take their numbers from the journal like all others, and are shown in their turn: a client comes
back with one number for everything it watches, so nothing may be shown before what has a lower number. But
they are not written: output may hold secrets, and would push everybody else's past out of the log. What was
shown of late is kept here, within bounds, for those who come back; after a restart the terminal is gone.
"""

from collections import deque
from typing import Any

from agenthost.core.reducers import Live, reduce_terminal
from agenthost.host.identity import Identity
from agenthost.host.journal import Journal
from agenthost.host.storage import Entry
from agenthost.host.subscriptions import Hub, Shown
from agenthost.host.terminals.scrollback import size_of, trimmed
from agenthost.wire.ahp.actions.envelope import ActionOrigin
from agenthost.wire.ahp.terminal import TerminalState

RING_ENTRIES = 10_000
RING_BYTES = 1024 * 1024
"""How much of what was shown is kept for those who come back."""


class Ring:
    """The newest envelopes of a terminal. `floor` is the number of the last that is gone."""

    def __init__(self, floor: int, *, entries: int = RING_ENTRIES, size: int = RING_BYTES) -> None:
        self.floor = floor
        self._most = entries
        self._room = size
        self._entries: deque[Entry] = deque()

    def add(self, entry: Entry) -> None:
        """Keep an envelope; the oldest make room for it."""
        self._entries.append(entry)
        self._room -= len(entry.envelope)
        while self._room < 0 or len(self._entries) > self._most:
            gone = self._entries.popleft()
            self._room += len(gone.envelope)
            self.floor = gone.seq

    def after(self, seq: int, client: str) -> list[Entry] | None:
        """Give what came after this number, as that client may see it; `None` if not all of it is kept."""
        if seq < self.floor:
            return None
        return [entry for entry in self._entries if entry.seq > seq and entry.only_for in (None, client)]


class TerminalResource:
    """What subscribers see of a terminal. Changed only by the host, on its event loop.

    Attributes:
        number: for the hub; below 0, so that it is never a session's.
        live: all that has happened. Title, claim and exit code can be read of its `base` without folding.
        shown: what of it was shown.
        ring: what was shown of late.
    """

    def __init__(
        self, uri: str, number: int, state: TerminalState, *, journal: Journal, hub: Hub, scrollback: int
    ) -> None:
        self.uri = uri
        self.number = number
        self.live = self.shown = Live(state)
        # Nobody may resume from before it was there: the URI may have been another terminal's.
        self.ring = Ring(journal.last_seq)
        self._journal = journal
        self._hub = hub
        self._scrollback = scrollback
        self._size = 0
        self._is_gone = False

    def act(self, action: Any, origin: ActionOrigin | None = None, only_for: Identity | None = None) -> None:
        """Let an action happen: reduce, number, and show it in its turn; to `only_for` alone, if given."""
        if self._is_gone:
            return
        # First reduced, then numbered: a fault here leaves no hole in the numbers.
        after = self._within(reduce_terminal(self.live, action, 0), action)
        seq, envelope = self._journal.number(action, origin)
        self.live = after
        self._journal.announce(
            Shown(
                seq,
                self.number,
                envelope,
                None if only_for is None else only_for.key,
                action=action,
                after=after,
                show=self._show,
            )
        )

    def _within(self, after: Live[TerminalState], action: Any) -> Live[TerminalState]:
        """Drop the oldest content once there is twice too much: so it costs little for each character."""
        match action["type"]:
            case "terminal/data":
                self._size += len(action["data"])
            case "terminal/cleared":
                self._size = 0
            case "terminal/commandExecuted":
                self._size += self._scrollback // 1_000  # so that many small parts are too much some time
            case _:
                return after
        if self._size < 2 * self._scrollback:
            return after
        state = trimmed(after.state, self._scrollback)
        self._size = size_of(state)
        return Live(state)

    def view(self) -> TerminalState:
        """Give what a new subscriber is shown."""
        return trimmed(self.shown.state, self._scrollback)

    def refuse(self, action: Any, origin: ActionOrigin, reason: str, client: Identity) -> Shown:
        """Answer a client's action with a refusal, which only that client sees. Nothing changes.

        Whoever calls brings it to the client once `journal.wait` says that it is durable.
        """
        seq, envelope = self._journal.number(action, origin, reason)
        item = Shown(seq, self.number, envelope, client.key, action=action, reason=reason, show=self._show)
        self._journal.announce(item)
        return item

    def leave(self) -> None:
        """Let nothing more happen: it is being removed."""
        self._is_gone = True
        self._hub.drop(self.number)

    def _show(self, item: Shown) -> None:
        self.ring.add(Entry(item.seq, item.resource, item.envelope, item.only_for))
        if item.after is None:
            return  # a refusal: whoever dispatched brings it there
        self.shown = item.after
        if item.only_for is None:
            self._hub.publish(item)
            return
        for subscriber in self._hub.listeners(self.number):
            if subscriber.client.key == item.only_for:
                subscriber.push(item)
