"""The sessions and further chats in memory, and which of them have to stay there.

One is evicted when nobody is subscribed, no turn is running, and others need the room. The session of a
further chat is in memory as long as the chat is, and so is what is above the session of a task.
"""

from collections import Counter, OrderedDict

from agenthost.errors import SessionNotFound
from agenthost.host.log.subscriptions import Hub
from agenthost.host.state.further_chat import FurtherChat
from agenthost.host.state.session import Session

__all__ = ["SessionMemory"]


class SessionMemory:
    """What is in memory, and what is about to be.

    Attributes:
        sessions: sessions and further chats by their URIs, those first that were not used for longest.
        uris: the URIs of the sessions, by their names.
        chats: the URIs of sessions and further chats, by those of their chats.
        drops: how many were removed from the store so far.
        foreign: those that other nodes write, by their numbers.
    """

    def __init__(self, hub: Hub, max_sessions: int) -> None:
        self.sessions: OrderedDict[str, Session] = OrderedDict()
        self.uris: dict[str, str] = {}
        self.chats: dict[str, str] = {}
        self.drops = 0
        self.foreign: dict[int, Session] = {}
        self._hub = hub
        self._max_sessions = max_sessions
        self._pins: Counter[int] = Counter()  # how many records are right below one
        self._coming: dict[str, Session] = {}

    def add(self, session: Session) -> None:
        """Hold a session or a further chat. Others may have to make room."""
        self.sessions[session.row.uri] = session
        self.sessions.move_to_end(session.row.uri)
        self.chats[session.chat_uri] = session.row.uri
        if session.home is session:
            self.uris[session.row.name] = session.row.uri
        if session.above is not None:
            self._pins[session.above.number] += 1
        if session.is_foreign:
            self.foreign[session.number] = session
        self._make_room()

    def expect(self, added: Session) -> None:
        """Note a further chat or a task that is not durable yet: nobody finds it, but it may be removed."""
        if added.above is not None:
            self._pins[added.above.number] += 1  # it must not be evicted before the new one is in memory
        self._coming[added.uri] = added

    def add_expected(self, added: Session) -> bool:
        """Hold what was expected. Return whether it was not removed with its session meanwhile."""
        if added.above is not None:
            self._pins[added.above.number] -= 1
        if self._coming.pop(added.uri, None) is not added:
            return False
        self.add(added)
        return True

    def remove(self, uri: str) -> Session | None:
        """Remove a session or a further chat that is in memory, or expected, and return it."""
        return self._coming.pop(uri, None) or self._evict(uri)

    def move(self, chat: FurtherChat, home: Session) -> None:
        """Move a further chat to another session."""
        self._pins[chat.home.number] -= 1
        self._pins[home.number] += 1
        chat.move(home)

    def check(self, session: Session) -> None:
        """Refuse what is not in memory any more: changing it would make a second writer.

        Raises:
            SessionNotFound: it was removed.
        """
        if self.sessions.get(session.uri) is not session:
            raise SessionNotFound(session.uri)

    def own_numbers(self) -> list[int]:
        """Return the numbers of all that this node writes, in memory or expected."""
        held = [*self.sessions.values(), *self._coming.values()]
        return [one.number for one in held if not one.is_foreign]

    def find_chat(self, uri: str) -> Session | None:
        """Return what has the chat with this URI, if it is in memory, or expected."""
        expected = (one for one in self._coming.values() if one.chat_uri == uri)
        return self.sessions.get(self.chats.get(uri, "")) or next(expected, None)

    def _evict(self, uri: str) -> Session | None:
        session = self.sessions.pop(uri, None)
        if session is not None:
            self.uris.pop(session.row.name, None)
            self.chats.pop(session.chat_uri, None)
            self.foreign.pop(session.number, None)
            if session.above is not None:
                self._pins[session.above.number] -= 1
        return session

    def _make_room(self) -> None:
        """Evict the least recently used sessions that are idle, written, and have no subscribers."""
        excess = len(self.sessions) - self._max_sessions
        if excess <= 0:
            return
        for uri, session in list(self.sessions.items())[:-1]:  # not the last: it was just loaded
            if excess <= 0:
                return
            if self._can_evict(session):
                self._evict(uri)
                excess -= 1

    def _can_evict(self, session: Session) -> bool:
        # A session that is being created is about to be changed.
        is_busy = session.has_turn or session.state["lifecycle"] == "creating"
        is_idle = session.is_written and (session.is_foreign or not is_busy)
        return is_idle and not self._hub.is_heard(session.number) and not self._pins[session.number]
