"""Records: how the objects for sessions and further chats are made, new or from the store."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from agenthost.core.conversation import Conversation
from agenthost.core.reducers import Live, reduce_chat, reduce_session
from agenthost.core.summaries import session_summary
from agenthost.host.log.journal import Journal
from agenthost.host.log.subscriptions import Hub
from agenthost.host.log.text_runs import actions_after
from agenthost.host.state.further_chat import FurtherChat, stored_summary
from agenthost.host.state.private import Private
from agenthost.host.state.session import Session, TranscriptEntry
from agenthost.host.state.task_session import TaskSession
from agenthost.host.storage import SessionRow, StoredSession
from agenthost.wire.ahp.chat import ChatState
from agenthost.wire.json import decode_json, encode_json

__all__ = ["Records"]


class Records:
    """Makes sessions and further chats. They are in no list yet, and not written."""

    def __init__(self, last_number: int, journal: Journal, hub: Hub, clock: Callable[[], int]) -> None:
        """Start with the last number that was given; `clock` returns nanoseconds."""
        self._last_number = last_number
        self._journal = journal
        self._publish = hub.publish
        self._clock = clock

    def new_session(
        self,
        uri: str,
        conversation: Conversation,
        name: str,
        owner: str,
        private: Private,
        messages: Sequence[TranscriptEntry] = (),
        above: Session | None = None,
        number: int | None = None,
    ) -> Session:
        """Make a session that begins with these states, or a task of what is `above`.

        `number` is the one that was reserved for it, if other nodes give numbers too.
        """
        number = self._next_number(number)
        state, chat = conversation
        created_at = chat["modifiedAt"]
        row = SessionRow(
            number=number,
            uri=uri,
            name=name,
            owner=owner,
            is_active="activeTurn" in chat,
            summary=encode_json(session_summary(uri, state, created_at)),
            private=encode_json(private),
        )
        seq = self._journal.line.shown_seq
        return self._session(row, conversation, created_at, seq, list(messages), private, above)

    def new_chat(
        self,
        home: Session,
        chat: ChatState,
        name: str,
        private: Private,
        messages: Sequence[TranscriptEntry],
        number: int | None = None,
    ) -> FurtherChat:
        """Make a further chat of a session that begins with this state; `number` as for a session."""
        number = self._next_number(number)
        uri, created_at = chat["resource"], chat["modifiedAt"]
        row = SessionRow(
            *(number, uri, name, home.row.owner, False),
            *(stored_summary(uri, created_at), encode_json(private), home.number),
        )
        return self._chat(home, row, chat, self._journal.line.shown_seq, list(messages), private)

    def _next_number(self, reserved: int | None) -> int:
        if reserved is not None:
            return reserved
        self._last_number += 1
        return self._last_number

    def restore(self, stored: StoredSession, above: Session | None, private: Private) -> Session:
        """Make a session or a further chat from what the store has of it."""
        states = decode_json(stored.state)
        state: Live[Any] = Live(states.get("session"))
        chat: Live[Any] = Live(states["chat"])
        seq = max([stored.state_seq, *(entry.seq for entry in stored.entries)])
        entries = 0
        for action, count in actions_after(stored.entries, after=stored.state_seq):
            if str(action["type"]).startswith("chat/"):
                chat = reduce_chat(chat, action)  # type: ignore[arg-type] # of a chat
            else:
                state = reduce_session(state, action)  # type: ignore[arg-type] # of a session
            entries += count
        messages = [
            TranscriptEntry(body["turn"], body["message"]) for body in map(decode_json, stored.messages)
        ]
        if above is not None and stored.row.parent:
            session: Session = self._chat(above, stored.row, chat.state, seq, messages, private)
        else:
            created_at = decode_json(stored.row.summary)["createdAt"]
            both = Conversation(state.state, chat.state)
            session = self._session(stored.row, both, created_at, seq, messages, private, above)
        session.entries, session.snapshot_bytes = entries, len(stored.state)
        return session

    def _session(
        self,
        row: SessionRow,
        conversation: Conversation,
        created_at: str,
        seq: int,
        messages: list[TranscriptEntry],
        private: Private,
        above: Session | None,
    ) -> Session:
        made = Session if above is None else partial(TaskSession, above)
        return made(
            row,
            conversation.session,
            Live(conversation.chat),
            seq,
            messages,
            private,
            created_at=created_at,
            journal=self._journal,
            publish=self._publish,
            clock=self._clock,
        )

    def _chat(
        self,
        home: Session,
        row: SessionRow,
        chat: ChatState,
        seq: int,
        messages: list[TranscriptEntry],
        private: Private,
    ) -> FurtherChat:
        return FurtherChat(
            home,
            row,
            Live(chat),
            seq,
            messages,
            private,
            created_at=decode_json(row.summary)["createdAt"],
            journal=self._journal,
            publish=self._publish,
            clock=self._clock,
        )
