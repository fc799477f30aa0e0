"""A session in memory: one writer, every change an action, decided and reduced in one place.

It holds two states: what has happened, and what was shown, which follows once it is durable. Both are
versions of one `Live` state, so the second costs nothing. Knows no agents and no connections.

Text that streams is only noted at first. It happens as one run: when the journal forms its next group, or
before anything else happens in the session or is read of it. So nobody can tell, and a delta costs little.
"""

import logging
from collections.abc import Callable, Collection, Sequence
from typing import Any

import msgspec

from agenthost.core.reducers import Live, reduce_session
from agenthost.core.transcript import Message
from agenthost.host.identity import Identity
from agenthost.host.journal import Journal
from agenthost.host.packing import Run
from agenthost.host.refusals import kept_of
from agenthost.host.storage import AddMessages, CutMessages, PutRow, PutSnapshot, SessionRow
from agenthost.host.subscriptions import Shown
from agenthost.wire.ahp.actions.envelope import ActionOrigin
from agenthost.wire.ahp.actions.text import Action
from agenthost.wire.ahp.session import SessionState
from agenthost.wire.ahp.turn import Turn
from agenthost.wire.json import JsonObject, encode_json

log = logging.getLogger("agenthost.session")

SNAPSHOT_ENTRIES = 1_000
SNAPSHOT_BYTES_PER_ENTRY = 16
"""When a snapshot is due: the larger the state, the later, so that each entry pays a bounded share of it."""


class Said(msgspec.Struct, frozen=True, gc=False):
    """A message of the transcript, and the turn that it was said in; seed messages belong to none."""

    turn: str | None
    message: Message

    def encoded(self) -> bytes:
        """Give it as it is stored."""
        return encode_json({"turn": self.turn, "message": self.message})


class Session:
    """A session that is in memory. Changed only through its methods, by the host, on its event loop.

    Attributes:
        row: what the store has beside the state, as of the last group.
        number: the store's number for it.
        shown: what is durable and was shown; `shown_seq` is the number of its last envelope.
        messages: the transcript.
        private: what belongs to it and is shown to nobody.
        entries: how many entries the log has since the last snapshot, which had `snapshot_bytes`.
        flow: the text that streams in at the moment, which may be added to; see `stream`.
    """

    def __init__(
        self,
        row: SessionRow,
        live: Live[SessionState],
        shown_seq: int,
        messages: list[Said],
        private: JsonObject,
        *,
        journal: Journal,
        publish: Callable[[Shown], None],
        clock: Callable[[], int],
    ) -> None:
        self.row = row
        self.number = row.number
        self.shown = live
        self.shown_seq = shown_seq
        self.messages = messages
        self.private = private
        self.journal = journal
        self.entries = 0
        self.snapshot_bytes = 0
        self._private = row.private
        self._live = live
        self._publish = publish
        self._clock = clock
        self.flow: Run | None = None
        self._streamed: list[Run] = []
        self._counted = 0  # how many of its texts the journal knows of
        self._is_expected = False  # the journal will call `gather` for its next group
        self._is_gone = False
        self._unsaid: list[bytes] = []  # the last messages of the transcript, for the next group
        self._has_new_row = False
        self._ended: tuple[Sequence[Turn], set[str]] = ((), set())  # turns, and their ids; see `had_turn`
        self._ticket = 0
        # Kept, because a bound method made for each entry would be work for the garbage collector.
        self._shower = self._show

    @property
    def live(self) -> Live[SessionState]:
        """All that has happened, durable or not, as a version that can be grown."""
        if self._streamed:
            self.settle()
        return self._live

    @property
    def state(self) -> SessionState:
        """All that has happened, durable or not."""
        if self._streamed:
            self.settle()
        live = self._live
        return live.base if live.growth is None else live.state

    @property
    def is_written(self) -> bool:
        """Whether the store has all of it, so that nothing is lost when it leaves memory."""
        return not self._is_expected and self.journal.is_durable(self._ticket)

    def stream(self, kind: str, turn_id: str, part_id: str, text: str) -> Run:
        """Let text stream to a part. It has its place in the order at once, and happens with what follows it.

        `journal.wait()` waits for it too. As long as what this gives is `flow`, more may be added to it;
        whoever does should `count` and `journal.wait_room()` now and then.
        """
        flow = self.flow
        if flow is None or part_id != flow.part or kind != flow.kind or turn_id != flow.turn:
            flow = Run(kind, self.row.uri, turn_id, part_id, [])
            if not self._is_expected and not self._expect():
                return flow
            self._streamed.append(flow)
            self.flow = flow
        flow.texts.append(text)
        self._counted += 1
        self.journal.buffered += 1
        return flow

    def count(self) -> None:
        """Let the journal know how much text waits here, with what was added to `flow`."""
        waiting = sum([len(run.texts) for run in self._streamed])
        self.journal.buffered += waiting - self._counted
        self._counted = waiting

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
        if not self._is_gone:
            # Encoded first: what cannot be is told before anything happens.
            said = [message.encoded() for message in messages] if messages else []
            kept = None if private is None else encode_json(private)
            self.settle()
            self._happen(action, origin)
            if cut is not None:
                self._cut(cut)
            if said:
                self._say(messages, said)
            if private is not None:
                self._keep(private, kept or b"")
            self._ticket = self.journal.ticket
        return self.journal.ticket

    def _happen(self, action: Action, origin: ActionOrigin | None) -> None:
        before = self._live
        # First reduced and encoded, then numbered: a fault here leaves no hole in the numbers.
        after = reduce_session(before, action, self._clock())  # type: ignore[arg-type] # routed by the caller
        seq, envelope = self.journal.number(action, origin)
        self._live = after
        self.journal.append(Shown(seq, self.number, envelope, None, action, after, None, self._shower))
        # Both are read without folding: text that streams in never touches the summary.
        if before.base.get("summary") is not after.base.get("summary"):
            self._has_new_row = self._is_expected or self._expect()
        self._count_entries(1)

    def check(self, action: Action, messages: Sequence[Said] = ()) -> None:
        """Raise what `act` would raise; nothing happens."""
        for message in messages:
            message.encoded()
        reduce_session(self.live, action, self._clock())  # type: ignore[arg-type] # routed by the caller
        encode_json(action)

    def note(self, messages: Sequence[Said]) -> int:
        """Add to the transcript, without any action. Gives the ticket."""
        self._say(messages, [message.encoded() for message in messages])
        return self.journal.ticket

    def keep(self, private: JsonObject) -> int:
        """Put this in the place of the private data, without any action. Gives the ticket."""
        self._keep(private, encode_json(private))
        return self.journal.ticket

    def _keep(self, private: JsonObject, encoded: bytes) -> None:
        self.private, self._private = private, encoded
        self._has_new_row = self._is_expected or self._expect()

    def refuse(
        self,
        action: Any,
        origin: ActionOrigin,
        reason: str,
        client: Identity,
        secrets: Collection[str] = (),
    ) -> Shown:
        """Answer a client's action with a refusal, which only that client sees. Nothing changes.

        Whoever calls brings it to the client once `journal.wait` says that it is durable. `secrets` are names
        of what must not be kept, see `refusals`.
        """
        self.settle()
        seq, envelope = self.journal.number(action, origin, reason)
        item = Shown(seq, self.number, envelope, client.key, action=action, reason=reason)
        if not self._is_gone:
            self._ticket = self.journal.write([kept_of(item, origin, secrets)])
            self._count_entries(1)
        return item

    def settle(self) -> None:
        """Let the text that streamed in happen now. Never fails: whoever brought it is long gone."""
        streamed = self._streamed
        if not streamed:
            return
        self._streamed, self.flow = [], None
        self.journal.buffered -= self._counted
        self._counted = 0
        for flow in streamed:
            for run in flow.pieces():
                try:
                    self._happen_as_one(run)
                except (TypeError, UnicodeError) as error:
                    log.warning("text of an agent in %s is not what it should be: %s", self.row.uri, error)
                    self._happen_as_one(run.mended())

    def _happen_as_one(self, run: Run) -> None:
        count = len(run.texts)
        if not count:
            return
        # As in `_happen`: numbered when nothing can go wrong any more.
        after = reduce_session(self._live, run.whole(), 0)  # text needs no clock
        packed = run.packed()
        self.journal.last_seq = seq = self.journal.last_seq + count
        self._live = after
        item = Shown(seq, self.number, packed, None, None, after, None, self._shower, run)
        self._ticket = self.journal.append(item)
        self._count_entries(count)

    def gather(self) -> None:
        """Bring to the journal what waits for the group that it forms: text, messages and the row, once."""
        self._is_expected = False
        self.settle()
        self._write_messages()
        if self._has_new_row:
            self._has_new_row = False
            self._ticket = self.journal.write([PutRow(self._fresh_row())])

    def leave(self) -> None:
        """Let nothing more be written for it: it is being removed. What its agent still says goes nowhere."""
        self.settle()
        self._unsaid = []
        self._is_expected = self._has_new_row = False
        self._is_gone = True

    def _expect(self) -> bool:
        """Have the journal call `gather` for its next group; not for a session that is gone."""
        if not self._is_gone:
            self._is_expected = True
            self._ticket = self.journal.expect(self)
        return self._is_expected

    def _say(self, messages: Sequence[Said], encoded: list[bytes]) -> None:
        self.messages += messages
        if self._is_expected or self._expect():
            self._unsaid += encoded

    def _cut(self, position: int) -> None:
        self._write_messages()
        del self.messages[position:]
        self._ticket = self.journal.write([CutMessages(self.number, position)])

    def _write_messages(self) -> None:
        if self._unsaid:
            position = len(self.messages) - len(self._unsaid)
            self._ticket = self.journal.write([AddMessages(self.number, position, tuple(self._unsaid))])
            self._unsaid = []

    def had_turn(self, turn_id: str) -> bool:
        """Tell whether a turn of this id has ended here. Only those are looked at that are new since."""
        known, ids = self._ended
        turns = self.state["turns"]
        if turns is not known:
            # Records never change, so where one is the same, all before it are.
            has_grown = len(turns) > len(known) and (not known or turns[len(known) - 1] is known[-1])
            start, ids = (len(known), ids) if has_grown else (0, set())
            ids.update([turn["id"] for turn in turns[start:]])
            self._ended = (turns, ids)
        return turn_id in ids

    def end_of(self, turn_id: str | None) -> int:
        """Give the position in the transcript after this turn; without a turn, after the seed messages."""
        turns = [turn["id"] for turn in self.state["turns"]]
        kept = set(turns[: turns.index(turn_id) + 1]) if turn_id in turns else set()
        spoken = (place for place, said in enumerate(self.messages) if said.turn not in {None, *kept})
        return next(spoken, len(self.messages))

    def _count_entries(self, count: int) -> None:
        self.entries += count
        if (
            self.entries >= SNAPSHOT_ENTRIES
            and self.entries * SNAPSHOT_BYTES_PER_ENTRY >= self.snapshot_bytes
        ):
            self.journal.write([self.snapshot()])

    def snapshot(self) -> PutSnapshot:
        """Make the write of a snapshot that holds everything up to now."""
        state = encode_json(self.state)
        self.entries, self.snapshot_bytes = 0, len(state)
        return PutSnapshot(self.number, state, self.journal.last_seq)

    def _fresh_row(self) -> SessionRow:
        row, state = self.row, self._live.base
        summary = encode_json(state["summary"])
        # What waits for the end of a turn, or for the session to be ready, has to be taken up as well.
        is_active = "activeTurn" in state or "deferred" in self.private
        self.row = SessionRow(row.number, row.uri, row.name, row.owner, is_active, summary, self._private)
        return self.row

    def _show(self, item: Shown) -> None:
        self.shown = item.after  # type: ignore[assignment] # every action that happens has one
        self.shown_seq = item.seq
        self._publish(item)
