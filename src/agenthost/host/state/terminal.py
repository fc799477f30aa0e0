"""A terminal as a resource: its state, which only actions change, and a buffer of recent actions.

Its actions are numbered like all others, and are shown in that order: a client resumes
with one number for everything it follows, so nothing may be shown before what has a lower number. But they
are not written: output may contain secrets, and would push everything else out of the log. Recent actions
are kept here, within bounds, for returning clients. After a restart the terminal is gone.
"""

from collections import deque
from collections.abc import Sequence
from typing import Any, Protocol, TypeVar

from agenthost.core.reducers import Live, reduce_terminal
from agenthost.host.access.identity import Identity
from agenthost.host.log.entries import count_numbers, encode_entry
from agenthost.host.log.journal import Journal
from agenthost.host.log.line import Mark
from agenthost.host.log.subscriptions import Hub, LogItem
from agenthost.host.state.scrollback import content_size, trim_content
from agenthost.host.storage import Entry
from agenthost.wire.ahp.actions import TerminalAction
from agenthost.wire.ahp.actions.envelope import ActionOrigin
from agenthost.wire.ahp.actions.text import TerminalData
from agenthost.wire.ahp.terminal import TerminalState
from agenthost.wire.json import JsonObject

__all__ = ["HasTerminalResource", "ReplayBuffer", "TerminalResource"]

MAX_REPLAY_ENTRIES = 10_000
MAX_REPLAY_BYTES = 1024 * 1024
"""How much of what was shown is kept for returning clients."""


class ReplayBuffer:
    """The newest envelopes of a terminal. `floor` is after the last one that was dropped."""

    def __init__(
        self, floor: Mark, *, entries: int = MAX_REPLAY_ENTRIES, size: int = MAX_REPLAY_BYTES
    ) -> None:
        self.floor = floor
        self._max_entries = entries
        self._room = size
        self._entries: deque[Entry] = deque()

    def add(self, entry: Entry) -> None:
        """Add an envelope, and drop the oldest if there are too many."""
        self._entries.append(entry)
        self._room -= len(entry.envelope)
        while self._room < 0 or len(self._entries) > self._max_entries:
            gone = self._entries.popleft()
            self._room += len(gone.envelope)
            self.floor = Mark(gone.seq)

    def after(self, seq: int, client: str) -> list[Entry] | None:
        """Return what came after this number, as this client may see it; `None` if some was dropped."""
        floor = self.floor.seq
        if floor is None or seq < floor:
            return None
        return [entry for entry in self._entries if entry.seq > seq and entry.only_for in (None, client)]


class HasTerminalResource(Protocol):
    """A terminal, as far as feeds need it. Which program runs in it is another package's business."""

    @property
    def resource(self) -> "TerminalResource":
        """The resource that subscribers see."""


T = TypeVar("T", bound=HasTerminalResource)


class TerminalTable(dict[str, T]):
    """The terminals that there are, by URI.

    Attributes:
        making: the URIs of those that are being made, and whose they are.
    """

    def __init__(self) -> None:
        super().__init__()
        self.making: dict[str, str] = {}

    def is_taken(self, uri: str) -> bool:
        """Return whether a terminal has this URI, or will have it."""
        return uri in self or uri in self.making


class TerminalResource:
    """A terminal as subscribers see it. Changed only by the host, on its event loop.

    Attributes:
        number: its number in the hub, below 0, so that it is never a session's.
        live: the state with everything that was applied. Title, claim and exit code are in its `base`.
        shown: the state that was shown.
        replay: what was shown recently.
    """

    def __init__(
        self, uri: str, number: int, state: TerminalState, *, journal: Journal, hub: Hub, scrollback: int
    ) -> None:
        self.uri = uri
        self.number = number
        self.live = self.shown = Live(state)
        # Nobody may resume from before it existed: another terminal may have had the URI.
        self.replay = ReplayBuffer(journal.mark())
        self._journal = journal
        self._hub = hub
        self._scrollback = scrollback
        self._size = 0
        self._is_gone = False

    def act(
        self,
        action: TerminalAction | TerminalData,
        origin: ActionOrigin | None = None,
        only_for: Identity | None = None,
    ) -> None:
        """Apply an action: reduce it, and show it in order; if given, to `only_for` alone."""
        if self._is_gone:
            return
        after = self._trim(reduce_terminal(self.live, action), action)
        envelope = encode_entry(self.uri, action, origin)
        self.live = after
        self._journal.announce(
            LogItem(
                0,
                self.number,
                envelope,
                None if only_for is None else only_for.key,
                uri=self.uri,
                channel=self.uri,
                action=action,
                after=after,
                show=self._show,
            )
        )

    def _trim(self, after: Live[TerminalState], action: Any) -> Live[TerminalState]:
        """Drop the oldest content once there is twice too much, so that the cost per character is small."""
        match action["type"]:
            case "terminal/data":
                self._size += len(action["data"])
            case "terminal/cleared":
                self._size = 0
            case "terminal/commandExecuted":
                self._size += self._scrollback // 1_000  # many small parts have to be trimmed too
            case _:
                return after
        if self._size < 2 * self._scrollback:
            return after
        state = trim_content(after.state, self._scrollback)
        self._size = content_size(state)
        return Live(state)

    def view(self) -> TerminalState:
        """Return what a new subscriber is shown."""
        return trim_content(self.shown.state, self._scrollback)

    def refuse(
        self,
        action: Any,
        origin: ActionOrigin,
        reason: str,
        client: Identity,
        legacy: Sequence[JsonObject] | None = None,
    ) -> LogItem:
        """Refuse a client's action. Only that client sees the refusal, and nothing changes (HR-A01).

        The caller sends it to the client once `journal.wait` says that it is durable.
        """
        item = LogItem(
            0,
            self.number,
            encode_entry(self.uri, action, origin, reason, legacy=legacy),
            client.key,
            count_numbers(legacy),
            self.uri,
            self.uri,
            action=action,
            reason=reason,
            show=self._show,
        )
        self._journal.announce(item)
        return item

    def close(self) -> None:
        """Apply and show nothing more: it is being removed."""
        self._is_gone = True
        self._hub.drop(self.number)

    def _show(self, item: LogItem) -> None:
        # Refusals too: a client that comes back gets its own again.
        self.replay.add(Entry(item.seq, item.resource, item.envelope, item.only_for))
        if item.after is None:
            return  # a refusal: the dispatcher sends it
        self.shown = item.after
        if item.only_for is None:
            self._hub.publish(item)
            return
        for subscriber in self._hub.listeners(self.number):
            if subscriber.client.key == item.only_for:
                subscriber.push(item)
