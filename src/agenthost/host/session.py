"""A session in memory: one writer, every change an action, decided and reduced in one place.

It holds two states: what has happened, and what was shown, which follows once it is durable. Both are
versions of one `Live` state, so the second costs nothing. Knows no agents and no connections.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from agenthost.core.reducers import Live, reduce_session
from agenthost.core.transcript import Message
from agenthost.host.journal import Journal
from agenthost.host.storage import AddMessages, CutMessages, PutRow, PutSnapshot, SessionRow, Write
from agenthost.host.subscriptions import Shown
from agenthost.wire.ahp.actions.envelope import ActionOrigin
from agenthost.wire.ahp.actions.text import Action, TextAction
from agenthost.wire.ahp.session import SessionState
from agenthost.wire.json import JsonObject, encode_json

SNAPSHOT_ENTRIES = 1_000
SNAPSHOT_BYTES_PER_ENTRY = 64
"""When a snapshot is due: the larger the state, the later, so that each entry pays a bounded share of it."""


@dataclass(frozen=True, slots=True)
class Said:
    """A message of the transcript, and the turn that it was said in; seed messages belong to none."""

    turn: str | None
    message: Message

    def encoded(self) -> bytes:
        """Give it as it is stored."""
        return encode_json({"turn": self.turn, "message": self.message})


@dataclass(slots=True)
class Session:
    """A session that is in memory. Changed only through `act`, by the host, on its event loop."""

    row: SessionRow
    live: Live[SessionState]
    shown: Live[SessionState]
    shown_seq: int
    messages: list[Said]
    private: JsonObject
    journal: Journal
    publish: Callable[[Shown], None]
    clock: Callable[[], int]
    entries: int = 0
    snapshot_bytes: int = 0

    number: int = field(init=False)
    """The store's number for it."""

    _shower: Callable[[Shown], None] = field(init=False)

    def __post_init__(self) -> None:
        self.number = self.row.number
        # Kept, because a bound method made for each delta would be work for the garbage collector.
        self._shower = self._show

    @property
    def state(self) -> SessionState:
        """All that has happened, durable or not."""
        return self.live.state

    def act(
        self,
        action: Action,
        origin: ActionOrigin | None = None,
        *,
        cut: int | None = None,
        messages: Sequence[Said] = (),
        private: JsonObject | None = None,
    ) -> int:
        """Let an action happen: reduce, number, write, and show it once it is durable.

        What belongs to it is written in the same transaction: the transcript is cut at `cut`, then `messages`
        are appended, and `private` takes the place of the old. Gives the ticket for `journal.wait`.
        """
        # First reduced, then numbered: a fault here leaves no hole in the numbers. Text needs no clock.
        now = 0 if isinstance(action, TextAction) else self.clock()
        after = reduce_session(self.live, action, now)  # type: ignore[arg-type] # routed by the caller
        before, self.live = self.live, after
        seq, envelope = self.journal.number(action, origin)
        item = Shown(seq, self.number, envelope, None, action, after, None, self._shower)
        ticket = self.journal.append(item)
        self.entries += 1
        # Both are read without folding: text that streams in never touches the summary.
        has_new_summary = before.base.get("summary") is not after.base.get("summary")
        if has_new_summary or private is not None or cut is not None or messages or self._needs_snapshot():
            ticket = self.journal.write(self._write_along(cut, messages, private, seq))
        return ticket

    def _write_along(
        self, cut: int | None, messages: Sequence[Said], private: JsonObject | None, seq: int
    ) -> list[Write]:
        """Make the writes that go into one transaction with an entry; the same tick sees to that."""
        if private is not None:
            self.private = private
        writes: list[Write] = [PutRow(self._fresh_row()), *self._transcribe(cut, messages)]
        if self._needs_snapshot():
            writes.append(self.snapshot(seq))
        return writes

    def _needs_snapshot(self) -> bool:
        return self.entries >= SNAPSHOT_ENTRIES and (
            self.entries * SNAPSHOT_BYTES_PER_ENTRY >= self.snapshot_bytes
        )

    def refuse(self, action: Any, origin: ActionOrigin, reason: str) -> Shown:
        """Answer a client's action with a refusal, which only that client sees. Nothing changes.

        Whoever calls brings it to the client once `journal.wait` says that it is durable.
        """
        seq, envelope = self.journal.number(action, origin, reason)
        item = Shown(seq, self.number, envelope, origin["clientId"], action=action, reason=reason)
        self.journal.write([item])
        return item

    def _transcribe(self, cut: int | None, messages: Sequence[Said]) -> list[Write]:
        writes: list[Write] = []
        if cut is not None:
            del self.messages[cut:]
            writes.append(CutMessages(self.number, cut))
        if messages:
            encoded = tuple(said.encoded() for said in messages)
            writes.append(AddMessages(self.number, len(self.messages), encoded))
            self.messages.extend(messages)
        return writes

    def end_of(self, turn_id: str | None) -> int:
        """Give the position in the transcript after this turn; without a turn, after the seed messages."""
        turns = [turn["id"] for turn in self.state["turns"]]
        kept = set(turns[: turns.index(turn_id) + 1]) if turn_id in turns else set()
        spoken = (place for place, said in enumerate(self.messages) if said.turn not in {None, *kept})
        return next(spoken, len(self.messages))

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
