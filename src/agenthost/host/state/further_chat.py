"""A further chat of a session, in memory: a record of its own, with its own log, transcript and turns.

What belongs to the session is the session's: its state, and the private data that all its chats share. So
whatever works on a session works on a further chat too. What follows from its actions in the session is
applied there, in the same commit.
"""

from typing import Any, Final, cast

import msgspec

from agenthost.core import actions
from agenthost.core.changesets import has_edits, offered_changesets
from agenthost.core.reducers import Live
from agenthost.host.log.journal import Journal
from agenthost.host.state.private import Private
from agenthost.host.state.session import Session, TranscriptEntry
from agenthost.host.storage import PutRow, SessionRow
from agenthost.wire.ahp.actions.envelope import ActionOrigin
from agenthost.wire.ahp.chat import ChatState
from agenthost.wire.ahp.session import SessionState
from agenthost.wire.json import encode_json

__all__ = ["FurtherChat", "own_private", "stored_summary"]

SHARED: Final = frozenset(
    {"tools", "trusted", "scopes", "pins", "secrets", "config", "app", "app_tools", "guests"}
)
"""The private data that a session shares with its chats; the rest belongs to each of them."""

EDITING: Final = "chat/toolCallComplete"
"""The action with which a chat may begin to offer changesets."""


def stored_summary(uri: str, created_at: str, home: int | None = None) -> bytes:
    """Return what the row of a further chat has for a summary: lists show it with its session.

    `home` is the number of its session, if that is not the one that it was made in.
    """
    moved = {} if home is None else {"home": home}
    return encode_json({"resource": uri, "createdAt": created_at, **moved})


def own_private(private: Private) -> Private:
    """Return the private data without what the session shares with its chats."""
    return cast("Private", {key: value for key, value in private.items() if key not in SHARED})


class FurtherChat(Session):
    """A chat of a session that is not its default chat."""

    def __init__(
        self,
        home: Session,
        row: SessionRow,
        chat: Live[ChatState],
        shown_seq: int,
        messages: list[TranscriptEntry],
        private: Private,
        *,
        created_at: str,
        journal: Journal,
        publish: Any,
        clock: Any,
    ) -> None:
        self._home = home
        super().__init__(
            row,
            home.state,
            chat,
            shown_seq,
            messages,
            private,
            created_at=created_at,
            journal=journal,
            publish=publish,
            clock=clock,
        )

    # What belongs to the session. The setters are for the constructor of a session, and change nothing there.

    @property
    def home(self) -> Session:
        """The session that it belongs to."""
        return self._home

    @home.setter
    def home(self, _home: Session) -> None:
        pass

    @property
    def above(self) -> Session:  # type: ignore[override] # of a chat it is always its session
        """The session that it belongs to."""
        return self._home

    @property
    def state(self) -> SessionState:
        """The current state of its session."""
        return self._home.state

    @state.setter
    def state(self, _state: SessionState) -> None:
        pass

    @property
    def shown_state(self) -> SessionState:
        """The state of its session that was shown."""
        return self._home.shown_state

    @shown_state.setter
    def shown_state(self, _state: SessionState) -> None:
        pass

    @property
    def private(self) -> Private:
        """Its private data, and what its session shares with it."""
        shared = {key: value for key, value in self._home.private.items() if key in SHARED}
        return cast("Private", {**shared, **self._own})

    @private.setter
    def private(self, private: Private) -> None:
        self._own = own_private(private)

    # Its own

    @property
    def channels(self) -> tuple[str, ...]:
        """The channels whose actions are in its log."""
        return (self.chat_uri,)

    @property
    def is_shown(self) -> bool:
        """Whether everything that was applied was shown."""
        return not self._streamed and self._chat is self.shown_chat

    def encoded(self) -> bytes:
        """Return its state as it is stored."""
        return encode_json({"chat": self.chat})

    def move(self, home: Session) -> None:
        """Belong to another session from now on. The caller shows it there, in the same commit."""
        self._home = home
        summary = stored_summary(self.uri, self.created_at, home.number)
        self.row = msgspec.structs.replace(self.row, parent=home.number, summary=summary)
        self._ticket = self.journal.write([PutRow(self._fresh_row(), self.top.number)])

    def _listed(self) -> bytes:
        return self.row.summary

    def _keep(self, private: Private, _encoded: bytes) -> None:
        """Replace the private data: each part where it belongs."""
        own = own_private(private)
        shared = {key: value for key, value in private.items() if key in SHARED}
        kept = {key: value for key, value in self._home.private.items() if key in SHARED}
        # Mostly only its own part changes; then the session's row is not written.
        if shared != kept:
            self._home.keep(cast("Private", {**own_private(self._home.private), **shared}))
        super()._keep(own, encode_json(own))

    def _offer_changesets(self, kind: str, action: Any) -> None:
        """Offer the changes of this chat on its own channel: those of the session are its default chat's."""
        has_none = kind == EDITING and "changesets" not in self._chat.base
        if has_none and has_edits(action["result"].get("content", ())):
            offer = actions.chat_changesets_changed(offered_changesets(self.uri))
            self._apply_to_chat(offer["type"], offer, None, None)

    def _apply_to_session(self, _kind: str, action: Any, _origin: ActionOrigin | None, _sent: Any) -> None:
        self._home.follow_up(action)
        # The row says whether it has a turn, which is when its session shows a change.
        self._has_new_row = self._is_expected or self._expect()
