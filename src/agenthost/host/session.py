"""A session in memory: one writer, every change an action, decided and reduced in one place.

It holds two states: what has happened, and what was shown, which follows once it is durable. Both are
versions of one `Live` state, so the second costs nothing. Knows no agents and no connections.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from agenthost.core.reducers import Live, reduce_session
from agenthost.host.journal import Journal, entry
from agenthost.host.storage import AddMessages, CutMessages, PutRow, PutSnapshot, SessionRow, Write
from agenthost.host.subscriptions import Shown
from agenthost.wire.ahp.actions.envelope import ActionOrigin
from agenthost.wire.ahp.actions.text import Action
from agenthost.wire.ahp.session import SessionState
from agenthost.wire.json import JsonObject, encode_json

SNAPSHOT_ENTRIES = 1_000
SNAPSHOT_BYTES_PER_ENTRY = 64
"""When a snapshot is due: the larger the state, the later, so that each entry pays a bounded share of it."""


@dataclass(frozen=True, slots=True)
class Message:
    """A message of the transcript, and the turn that it belongs to; seed messages belong to none."""

    turn: str | None
    body: JsonObject

    def encoded(self) -> bytes:
        """Give it as it is stored."""
        return encode_json({"turn": self.turn, "message": self.body})


@dataclass(slots=True)
class Session:
    """A session that is in memory. Changed only through `act`, by the host, on its event loop."""

    row: SessionRow
    live: Live[SessionState]
    shown: Live[SessionState]
    shown_seq: int
    messages: list[Message]
    private: JsonObject
    journal: Journal
    publish: Callable[[Shown], None]
    clock: Callable[[], int]
    entries: int = 0
    snapshot_bytes: int = 0

    @property
    def number(self) -> int:
        """The store's number for it."""
        return self.row.number

    @property
    def state(self) -> SessionState:
        """All that has happened, durable or not."""
        return self.live.state

    def act(
        self,
        action: Action,
        origin: ActionOrigin | None = None,
        *,
        messages: Sequence[Message] = (),
        private: JsonObject | None = None,
    ) -> int:
        """Let an action happen: reduce, number, write, and show it once it is durable.

        Messages and private data that belong to it are written in the same transaction. Gives the ticket for
        `journal.wait`.
        """
        # First reduced, then numbered: a fault here leaves no hole in the numbers.
        after = reduce_session(self.live, action, self.clock())  # type: ignore[arg-type] # routed by the caller
        before, self.live = self.live, after
        seq, envelope = self.journal.number(action, origin)
        writes: list[Write] = [entry(seq, self.number, envelope)]
        if private is not None:
            self.private = private
        if private is not None or _has_new_summary(before, after):
            writes.append(PutRow(self._fresh_row()))
        if messages:
            writes.append(AddMessages(self.number, len(self.messages), _encoded(messages)))
            self.messages.extend(messages)
        self.entries += 1
        if self.entries >= max(SNAPSHOT_ENTRIES, self.snapshot_bytes // SNAPSHOT_BYTES_PER_ENTRY):
            writes.append(self.snapshot(seq))
        item = Shown(seq, self.number, action, envelope, after)
        return self.journal.write(writes, lambda: self._show(item))

    def refuse(self, action: Any, origin: ActionOrigin, reason: str) -> Shown:
        """Answer a client's action with a refusal, which only that client sees. Nothing changes.

        Whoever calls brings it to the client once `journal.wait` says that it is durable.
        """
        seq, envelope = self.journal.number(action, origin, reason)
        self.journal.write([entry(seq, self.number, envelope, origin["clientId"])])
        return Shown(seq, self.number, action, envelope, reason=reason)

    def cut_messages(self, position: int) -> int:
        """Forget the transcript from this position on. Gives the ticket for `journal.wait`."""
        del self.messages[position:]
        return self.journal.write([CutMessages(self.number, position)])

    def snapshot(self, seq: int) -> PutSnapshot:
        """Make the write of a snapshot that holds everything up to this number."""
        state = encode_json(self.state)
        self.entries, self.snapshot_bytes = 0, len(state)
        return PutSnapshot(self.number, state, seq)

    def _fresh_row(self) -> SessionRow:
        state = self.state
        self.row = replace(
            self.row,
            is_active="activeTurn" in state,
            summary=encode_json(state["summary"]),
            private=encode_json(self.private),
        )
        return self.row

    def _show(self, item: Shown) -> None:
        if item.after is not None:
            self.shown = item.after
        self.shown_seq = item.seq
        self.publish(item)


def _has_new_summary(before: Live[SessionState], after: Live[SessionState]) -> bool:
    # Both are read without folding: text that streams in never touches the summary.
    return before.base.get("summary") is not after.base.get("summary")


def _encoded(messages: Sequence[Message]) -> tuple[bytes, ...]:
    return tuple(message.encoded() for message in messages)
