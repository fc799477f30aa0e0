"""List notices: tell clients which sessions are added and removed, and how their summaries change.

The list of sessions is not a state: clients fetch it, and these notices keep it up to date (HR-L06, HR-L07).
They have no sequence numbers and are not repeated (HR-C05). Changes of a session in quick succession are one
notice (HR-L08).
"""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, TypeAlias, TypeVar

from agenthost.host.state.session import Session
from agenthost.wire.ahp.session import SessionState, SessionSummary
from agenthost.wire.json import JsonObject

PAUSE = 0.1
"""How long changes of summaries are collected, in seconds."""

MUTABLE = (
    *("title", "status", "activity", "modifiedAt", "project", "workingDirectories", "changes", "_meta"),
    *("chats", "defaultChat"),
)
"""The fields of a summary that can change."""


T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Notice:
    """What notices have in common. A task is a session that some clients see as a chat of another one."""

    is_task: bool = False
    _made: dict[Any, Any] = field(default_factory=dict, init=False, repr=False, compare=False)

    def shared(self, make: "Callable[[Any], T]") -> T:
        """Return `make(self)`, computed once for all listeners that pass the same function."""
        if make not in self._made:
            self._made[make] = make(self)
        made: T = self._made[make]
        return made


@dataclass(frozen=True, slots=True)
class Added(_Notice):
    """A session was created."""

    owner: str
    summary: SessionSummary


@dataclass(frozen=True, slots=True)
class Removed(_Notice):
    """A session was removed for good."""

    owner: str
    uri: str


@dataclass(frozen=True, slots=True)
class Changed(_Notice):
    """A summary changed. `changes` has the new values; a field that was removed is `None`."""

    owner: str
    uri: str
    changes: JsonObject


Notice: TypeAlias = Added | Removed | Changed

Listener: TypeAlias = Callable[[Notice], None]


class ListNotices:
    """Sends notices to listeners, and remembers which summaries they know.

    Attributes:
        listeners: the listeners, each with its own key.
    """

    def __init__(self) -> None:
        self.listeners: dict[object, Listener] = {}
        # For each session that has changed since, the summary in the last notice.
        self._told: dict[int, tuple[Session, SessionSummary]] = {}
        self._timer: asyncio.TimerHandle | None = None

    def listen(self, listener: Listener) -> Callable[[], None]:
        """Add a listener. Return a function that removes it."""
        key = object()
        self.listeners[key] = listener
        return lambda: self.listeners.pop(key, None) and None

    def tell(self, notice: Notice) -> None:
        """Send a notice to all listeners."""
        # A copy: a listener may be removed while notices are sent.
        for listener in list(self.listeners.values()):
            listener(notice)

    def note(self, session: Session, before: SessionState) -> None:
        """Record that a summary may have changed since this state. The notice follows after `PAUSE`."""
        if before is session.state and session.is_listed:
            return
        # The first one stays: the next notice has to cover everything since the last.
        if session.number not in self._told:
            self._told[session.number] = (session, session.summary(before))
        if self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(PAUSE, self._tell_changes)

    def forget(self, session: Session) -> None:
        """Send no more notices about a session."""
        self._told.pop(session.number, None)

    def close(self) -> None:
        """Send no more notices."""
        if self._timer is not None:
            self._timer.cancel()

    def _tell_changes(self) -> None:
        self._timer = None
        told, self._told = self._told, {}
        for number, (session, before) in told.items():
            # Only what is durable; the rest is for the next notice.
            now = session.summary(session.shown_state)
            changes = summary_changes(before, now)
            if changes:
                self.tell(Changed(session.row.owner, session.row.uri, changes, is_task=session.is_task))
            if not session.is_listed:
                self._told[number] = (session, now)
        if self._told:
            self._timer = asyncio.get_running_loop().call_later(PAUSE, self._tell_changes)


def summary_changes(before: SessionSummary, after: SessionSummary) -> JsonObject:
    """Return the fields that differ with their new values; `None` for those that were removed."""
    old: Any = before
    new: Any = after
    return {key: new.get(key) for key in MUTABLE if old.get(key) != new.get(key)}
