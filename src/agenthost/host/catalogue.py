"""The catalogue: tells whoever wants to know which sessions come and go, and how their summaries change.

The list of sessions is no state: it is fetched, and kept fresh by these notices. They have no numbers and are
never repeated. Changes of one session that come close together are told as one.
"""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

from agenthost.host.dispatch import Happening
from agenthost.host.session import Session
from agenthost.wire.ahp.session import SessionSummary
from agenthost.wire.json import JsonObject

PAUSE = 0.1
"""How long changes of summaries are gathered, in seconds."""

MUTABLE = ("title", "status", "activity", "modifiedAt", "project", "model", "workingDirectory", "diffs")


@dataclass(frozen=True, slots=True)
class Added:
    """A session was made."""

    owner: str
    summary: SessionSummary


@dataclass(frozen=True, slots=True)
class Removed:
    """A session was removed for good."""

    owner: str
    uri: str


@dataclass(frozen=True, slots=True)
class Changed:
    """A summary changed. `changes` has what is new; a field that is gone is `None`."""

    owner: str
    uri: str
    changes: JsonObject


Notice: TypeAlias = Added | Removed | Changed
Listener: TypeAlias = Callable[[Notice], None]


class Catalogue:
    """Who wants to know, and what they were told."""

    def __init__(self) -> None:
        self._listeners: dict[object, Listener] = {}
        # What was last told of those that have changed since.
        self._told: dict[int, tuple[Session, SessionSummary]] = {}
        self._timer: asyncio.TimerHandle | None = None

    def listen(self, listener: Listener) -> Callable[[], None]:
        """Tell this listener from now on. Gives what ends it."""
        key = object()
        self._listeners[key] = listener
        return lambda: self._listeners.pop(key, None) and None

    def tell(self, notice: Notice) -> None:
        """Tell everybody."""
        for listener in list(self._listeners.values()):
            listener(notice)

    def happened(self, happening: Happening) -> None:
        """Note that a summary has changed; it is told in a moment."""
        session, before = happening.session, happening.before["summary"]
        if not self._listeners or before is session.state["summary"]:
            return
        self._told.setdefault(session.number, (session, before))
        if self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(PAUSE, self._tell_changes)

    def forget(self, session: Session) -> None:
        """Say nothing more of a session."""
        self._told.pop(session.number, None)

    def close(self) -> None:
        """Tell nothing more."""
        if self._timer is not None:
            self._timer.cancel()

    def _tell_changes(self) -> None:
        self._timer = None
        told, self._told = self._told, {}
        for number, (session, before) in told.items():
            # Only what is durable is told; the rest is for the next time.
            now = session.shown.state["summary"]
            changes = summary_changes(before, now)
            if changes:
                self.tell(Changed(session.row.owner, session.row.uri, changes))
            if session.live is not session.shown:
                self._told[number] = (session, now)
        if self._told:
            self._timer = asyncio.get_running_loop().call_later(PAUSE, self._tell_changes)


def summary_changes(before: SessionSummary, after: SessionSummary) -> JsonObject:
    """Give the fields that differ, as they are now; `None` for those that are gone."""
    old: Any = before
    new: Any = after
    return {key: new.get(key) for key in MUTABLE if old.get(key) != new.get(key)}
