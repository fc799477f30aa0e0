"""Clients of a session or its chat that make a state of what they are sent, for the tests of channels."""

from typing import Any

from agenthost.core.derived import SHOWN_FIELDS, waiting_in
from agenthost.core.legacy import reducers as legacy
from agenthost.core.reducers import REDUCERS, Live
from agenthost.edges.ahp.v0_1.projection import envelopes_of, expander, state_of
from agenthost.edges.ahp.v1 import older
from agenthost.host.access.identity import Identity
from agenthost.host.log.subscriptions import LogItem
from agenthost.host.state.engine import Engine
from agenthost.host.state.session import Session
from agenthost.host.storage import Entry
from agenthost.wire.json import decode_json
from legacy_view import shown_state


class Follower:
    """A client of one channel. It folds what it is sent, and may leave and come back."""

    def __init__(self, host: Engine, channel: str) -> None:
        self.channel = channel
        self.last_seen = 0
        self.live: Live[Any] = Live({})
        self.numbers: list[int] = []
        self._host = host
        self._feed = self._new_feed()

    def _new_feed(self) -> Any:
        return self._host.feed(Identity(f"follower of {self.channel}"))

    async def join(self) -> None:
        """Follow the channel from now on."""
        view = await self._feed.subscribe(self.channel)
        self.live, self.last_seen = Live(self._state(view)), view.seq

    async def leave(self) -> None:
        """Read what has come, and leave."""
        self.read()
        self._feed.close()
        self._feed = self._new_feed()

    async def come_back(self) -> None:
        """Come back with what was seen last."""
        numbers: dict[int, str] = {}
        resumed = await self._feed.resume(self.last_seen, [self.channel], **self._expand(numbers))
        for view in resumed.views:
            self.live, self.last_seen = Live(self._state(view)), view.seq
        for entry in resumed.replay or []:
            shown = self._shown(entry)
            if shown is not None:
                self._take(shown.envelope)

    def read(self) -> None:
        """Take what waits."""
        subscriber = self._feed.subscriber
        items, subscriber.items = list(subscriber.items), type(subscriber.items)()
        for item in items:
            for line in self._lines(item):
                self._take(line)

    def _take(self, line: bytes) -> None:
        envelope = decode_json(line)
        if envelope["channel"] == self.channel:
            self._reduce(envelope)

    def _reduce(self, envelope: Any) -> None:
        assert envelope["serverSeq"] > self.last_seen
        self.last_seen = envelope["serverSeq"]
        kind: Any = envelope["action"]["type"].partition("/")[0]
        self.live = REDUCERS[kind](self.live, envelope["action"])

    def _expand(self, _numbers: dict[int, str]) -> Any:
        return {}

    def _lines(self, item: LogItem) -> Any:
        return item.envelopes()

    def _shown(self, entry: Entry) -> Entry | None:
        return entry

    def _state(self, view: Any) -> Any:
        return view.state

    @property
    def state(self) -> Any:
        """What the client makes of the channel."""
        return self.live.state

    def expected(self, session: Session) -> Any:
        """Return what was shown of the channel."""
        return session.shown_chat.state if self.channel == session.chat_uri else session.shown_state


class OlderFollower(Follower):
    """A client of AHP 0.9, which is not sent all that AHP 1.0 has."""

    def _lines(self, item: LogItem) -> Any:
        return older.envelopes_of(item)

    def _shown(self, entry: Entry) -> Entry | None:
        return older.strip_entry(entry)

    def _state(self, view: Any) -> Any:
        return older.strip_state(view.state)

    def _reduce(self, envelope: Any) -> None:
        assert envelope["action"]["type"] not in older.NEWER_ACTIONS
        super()._reduce(envelope)

    def expected(self, session: Session) -> Any:
        return older.strip_state(super().expected(session))


class OldFollower(Follower):
    """A client of AHP 0.1, which sees a session with its chat as one resource."""

    def _new_feed(self) -> Any:
        return self._host.feed_for(self._host.subscriber(Identity("an old one")), is_whole=True)

    def _expand(self, numbers: dict[int, str]) -> Any:
        return {"expand": expander(numbers), "numbers": numbers}

    def _lines(self, item: LogItem) -> Any:
        return envelopes_of(item)

    def _state(self, view: Any) -> Any:
        return state_of(view)

    def _take(self, line: bytes) -> None:
        envelope = decode_json(line)
        assert envelope["serverSeq"] > self.last_seen
        self.last_seen = envelope["serverSeq"]
        self.live = legacy.reduce_session(self.live, envelope["action"], 0)

    @property
    def state(self) -> Any:
        return _timeless(self.live.state)

    def expected(self, session: Session) -> Any:
        return _timeless(shown_state(session))


def _timeless(state: Any) -> Any:
    """Leave out when it was changed: clients of AHP 0.1 have clocks of their own."""
    return {**state, "summary": {**state["summary"], "modifiedAt": 0}}


def check_session(session: Session) -> None:
    """Check that the session shows of its chat what there is, once all of it was shown."""
    state, chat = session.conversation
    (entry,) = state["chats"]
    # An activity that is over is an empty text in the catalogue. The host never changes the other fields.
    assert [entry.get(key) or "" for key in SHOWN_FIELDS] == [chat.get(key) or "" for key in SHOWN_FIELDS]
    check_waiting(session)


def check_waiting(session: Session) -> None:
    """Check that the session shows at any moment what waits in its chat."""
    state, chat = session.conversation
    waiting = [one["id"] for one in state.get("inputNeeded", [])]
    assert sorted(waiting) == sorted(waiting_in(chat))
    assert state.get("inputNeeded") != []
