"""Loads: older turns for clients that do not have all turns of a chat.

What a load brings depends on what its client has by then. So a load only takes its place in the order of
things, and is made when it is sent. It is not in the log: a client that comes back gets its view
anew (docs/decisions/0052).
"""

import asyncio
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import msgspec

from agenthost.core.turn_view import TurnView
from agenthost.errors import InvalidValue
from agenthost.host.log.journal import Journal
from agenthost.host.log.subscriptions import LogItem, Subscriber
from agenthost.host.state.session import Session
from agenthost.wire.ahp.actions.turn import ChatTurnsLoadedAction
from agenthost.wire.ahp.turn import Turn
from agenthost.wire.json import encode_json

__all__ = ["Load", "TurnLoads", "Views"]

Views: TypeAlias = dict[str, TurnView]
"""The partial views of one client, by their chats."""

_Make: TypeAlias = Callable[[TurnView, Sequence[Turn]], tuple[TurnView, ChatTurnsLoadedAction | None]]


# With `gc`: unlike other items it holds functions, which may be part of a cycle.
class Load(LogItem, frozen=True, gc=True):
    """A load for one client. `after` are the chat's turns at its place in the order.

    Attributes:
        views: the views of the client.
        make: returns the view that the client has after it, and the action.
        done: told when the load is sent, if somebody waits for it; also if it cannot be made.
    """

    views: Views = msgspec.field(default_factory=dict)
    make: _Make | None = None
    done: asyncio.Future[None] | None = None

    def envelopes(self) -> Sequence[bytes]:
        """Make the load, once, and return its envelope; nothing if there are no turns to load."""
        if self._lines is None:
            msgspec.structs.force_setattr(self, "_lines", self._made_lines())
        return self._lines or []

    def _made_lines(self) -> list[bytes]:
        view, done = self.views.get(self.channel), self.done
        action: ChatTurnsLoadedAction | None = None
        try:
            if view is not None and self.make is not None:
                self.views[self.channel], action = self.make(view, self.after)
        except InvalidValue as error:
            if done is not None and not done.done():
                done.set_exception(error)
        if done is not None and not done.done():
            done.set_result(None)
        if action is None:
            return []
        return [encode_json({"channel": self.channel, "action": action, "serverSeq": self.seq})]


class TurnLoads:
    """The clients with partial views of chats, by the numbers of the sessions."""

    def __init__(self, journal: Journal) -> None:
        self._journal = journal
        self._partial: dict[int, dict[Subscriber, Views]] = {}

    def add(self, session: Session, subscriber: Subscriber, views: Views) -> None:
        """Load turns for a subscriber from now on, before an action refers to one that it does not have."""
        self._partial.setdefault(session.number, {})[subscriber] = views

    def remove(self, number: int, subscriber: Subscriber) -> None:
        """Load no more turns of a session's chat for a subscriber."""
        found = self._partial.get(number, {})
        found.pop(subscriber, None)
        if not found:
            self._partial.pop(number, None)

    def leave(self, subscriber: Subscriber) -> None:
        """Load no more turns for a subscriber."""
        for number in [number for number, found in self._partial.items() if subscriber in found]:
            self.remove(number, subscriber)

    def before(self, session: Session, action: Any) -> None:
        """Have the turns loaded that an action of `REFERRING` needs. It is applied next."""
        for subscriber, views in self._partial.get(session.number, {}).items():
            self._load(session, subscriber, views, lambda view, turns: view.load_for(turns, action))

    async def fetch(self, session: Session, subscriber: Subscriber, views: Views, cursor: str | None) -> None:
        """Load the next page of turns, and wait until it is sent.

        Raises:
            InvalidValue: the cursor is not the one that the client has now.
        """
        done: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._load(session, subscriber, views, lambda view, turns: view.load_page(turns, cursor), done)
        await done

    def _load(
        self,
        session: Session,
        subscriber: Subscriber,
        views: Views,
        make: _Make,
        done: asyncio.Future[None] | None = None,
    ) -> None:
        def show(item: LogItem) -> None:
            # All before it was shown by now, and nothing after it: these are the turns at its place.
            msgspec.structs.force_setattr(item, "after", session.shown_chat.base["turns"])
            subscriber.push(item)

        key, chat = subscriber.client.key, session.chat_uri
        load = Load(
            0, session.number, b"", key, 1, session.uri, chat, show=show, views=views, make=make, done=done
        )
        self._journal.announce(load)
