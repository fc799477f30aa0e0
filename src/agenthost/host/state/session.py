"""A session in memory: it has one writer, and every change is an action that is reduced here (HR-S07).

It has two channels: the session itself, and its default chat. One log holds the actions of both, in order,
and each names its channel. Of each channel there are two states: the current one, and the one that was shown,
which follows once it is durable. A further chat is a record of its own (`further_chat`), which its session
shows among its chats (docs/decisions/0050). Knows no agents and no connections.

Streamed text is buffered first. It is applied as one run when the journal forms its next group, or before
anything else is applied to the session or read from it. So the delay is invisible, and a delta costs little.
"""

import logging
from collections.abc import Callable, Collection, Sequence
from typing import Any

import msgspec

from agenthost.core import actions
from agenthost.core.changesets import OFFERING, offered_changesets, to_offer
from agenthost.core.conversation import Conversation
from agenthost.core.derived import QUIET, derived_actions, summary_changes
from agenthost.core.legacy.forms import DEFAULT, FORMS, is_plain, legacy_form
from agenthost.core.reducers import Live, next_session_state, reduce_chat, reduce_session
from agenthost.core.reducers.text import StreamedText
from agenthost.core.summaries import session_summary
from agenthost.core.times import elapsed_ms, iso_time
from agenthost.core.token_estimate import estimate_tokens
from agenthost.core.transcript import Message
from agenthost.errors import OwnedElsewhere
from agenthost.host.access.identity import Identity
from agenthost.host.log.entries import count_numbers, encode_entry
from agenthost.host.log.journal import Journal
from agenthost.host.log.subscriptions import LogItem
from agenthost.host.log.text_runs import TextRun
from agenthost.host.state.private import Private
from agenthost.host.state.refusals import stored_refusal
from agenthost.host.storage import AddMessages, CutMessages, PutRow, PutSnapshot, SessionRow
from agenthost.wire.ahp.actions import ChatAction, SessionAction
from agenthost.wire.ahp.actions.envelope import ActionOrigin
from agenthost.wire.ahp.actions.session import SessionChatUpdatedAction
from agenthost.wire.ahp.actions.text import ChatTextType
from agenthost.wire.ahp.chat import ChatState
from agenthost.wire.ahp.session import SessionState, SessionSummary
from agenthost.wire.ahp.turn import Turn
from agenthost.wire.json import Json, JsonObject, encode_json

log = logging.getLogger("agenthost.session")

NS_PER_MS = 1_000_000

SNAPSHOT_ENTRIES = 1_000
SNAPSHOT_BYTES_PER_ENTRY = 16
"""When a snapshot is due: the larger the state, the later, so that its cost per entry is bounded."""


class TranscriptEntry(msgspec.Struct, frozen=True, gc=False):
    """A message of the transcript and its turn; imported messages have no turn."""

    turn: str | None
    message: Message

    def encoded(self) -> bytes:
        """Return the entry as it is stored."""
        return encode_json({"turn": self.turn, "message": self.message})


class Session:
    """A session in memory. Changed only through its methods, by the host, on its event loop.

    Attributes:
        row: what the store has besides the state, as of the last group.
        number: the store's number for it.
        uri: the channel of the session; `chat_uri` is that of its default chat.
        home: the session itself; of a further chat, the session that it belongs to.
        above: what is in memory as long as it is: the home of a further chat; of a task, where its call is.
        created_at: when it was created.
        state: the current state of the session, durable or not.
        shown_state: the state of the session that is durable and was shown.
        shown_chat: the state of the chat that is durable and was shown.
        shown_seq: the number of the last envelope that was shown.
        messages: the transcript.
        private: its private data.
        entries: how many entries the log has since the last snapshot, which had `snapshot_bytes`.
        notes: private data of the running turn's agent for parts and calls, by their ids.
        speaker: the client that began the newest turn, if that is known.
        flow: the run of text that is streaming, which may be appended to; see `stream`.
    """

    is_task = False
    """Whether its chat is also a chat of another session: see `task_session`."""

    above: "Session | None" = None

    is_foreign = False
    """Whether another node writes it, and this one only follows: see `followed`."""

    def __init__(
        self,
        row: SessionRow,
        state: SessionState,
        chat: Live[ChatState],
        shown_seq: int,
        messages: list[TranscriptEntry],
        private: Private,
        *,
        created_at: str,
        journal: Journal,
        publish: Callable[[LogItem], None],
        clock: Callable[[], int],
    ) -> None:
        self.row = row
        self.number = row.number
        self.uri = row.uri
        self.chat_uri = chat.base["resource"]
        self.home: Session = self
        self.created_at = created_at
        self.state = self.shown_state = state
        self.shown_chat = chat
        self.shown_seq = shown_seq
        self.messages = messages
        self.private = private
        self.journal = journal
        self.entries = 0
        self.snapshot_bytes = 0
        self.notes: dict[str, JsonObject] = {}
        self.speaker: str | None = None
        self._began: tuple[str, int] | None = None  # the newest turn, and when it began
        self._private = row.private
        self._chat = chat
        self._publish = publish
        self._clock = clock
        self.flow: TextRun | None = None
        self._streamed: list[TextRun] = []
        self._counted = 0  # how many of the flow's texts are in `journal.buffered`
        self._is_expected = False  # the journal will call `gather` for its next group
        self._is_gone = False
        self._unwritten: list[bytes] = []  # the last messages of the transcript, for the next group
        self._has_new_row = False
        self._listed_chat: ChatState | None = None  # the chat as the catalogue has it, until it is updated
        self._ended: tuple[Sequence[Turn], set[str]] = ((), set())  # turns and their ids, for `had_turn`
        self._measured = (0, 0)  # how many messages were estimated, and their tokens
        self._transcript: list[Message] = []  # of `messages`, as far as it was asked for
        self._ticket = 0
        # Kept: a new bound method per entry would be work for the garbage collector.
        self._shower = self._show

    @property
    def top(self) -> "Session":
        """The session that has its chat in the catalogue: itself, its home, or the one above its task."""
        return self if self.above is None else self.above.top

    @property
    def chat(self) -> ChatState:
        """The current state of the default chat, durable or not."""
        if self._streamed:
            self.flush_text()
        live = self._chat
        return live.base if live.growth is None else live.state

    @property
    def conversation(self) -> Conversation:
        """The current states of the session and its default chat."""
        return Conversation(self.state, self.chat)

    @property
    def channels(self) -> tuple[str, ...]:
        """The channels whose actions are in its log."""
        return (self.uri, self.chat_uri)

    @property
    def has_turn(self) -> bool:
        """Whether a turn is running or waiting."""
        return "activeTurn" in self._chat.base

    @property
    def is_written(self) -> bool:
        """Whether the store has everything, so that the session can leave memory."""
        return not self._is_expected and self.journal.is_durable(self._ticket)

    @property
    def is_shown(self) -> bool:
        """Whether everything that was applied was shown."""
        return not self._streamed and self._chat is self.shown_chat and self.is_listed

    @property
    def is_listed(self) -> bool:
        """Whether everything that its summary says was shown."""
        return self.state is self.shown_state and self._listed_chat is None

    def summary(self, state: SessionState | None = None) -> SessionSummary:
        """Return the summary for lists, of the current state or of another one."""
        return session_summary(self.uri, self.state if state is None else state, self.created_at)

    @property
    def transcript(self) -> list[Message]:
        """All messages so far, in a new list. A long one is copied, not made of its entries at every step."""
        known = self._transcript
        if len(known) != len(self.messages):
            del known[len(self.messages) :]
            known += [entry.message for entry in self.messages[len(known) :]]
        return known.copy()

    @property
    def tokens(self) -> int:
        """An estimate of how many tokens the transcript has. Only new messages are read."""
        count, tokens = self._measured
        if count < len(self.messages):
            tokens += sum([estimate_tokens(entry.message) for entry in self.messages[count:]])
            self._measured = (len(self.messages), tokens)
        return tokens

    def now(self) -> str:
        """Return the time, as actions have it."""
        return iso_time(self._clock() // NS_PER_MS) or ""

    def elapsed(self) -> int:
        """Return how many milliseconds the running turn has taken so far."""
        turn = self._chat.base.get("activeTurn")
        if turn is None:
            return 0
        now = self._clock() // NS_PER_MS
        # By our own clock, if we saw it begin: that of the client who began it may be wrong (Q4).
        is_known = self._began is not None and self._began[0] == turn["id"]
        return max(0, now - self._began[1]) if is_known else elapsed_ms(turn["startedAt"], now)  # type: ignore[index]

    def stream(self, kind: ChatTextType, turn_id: str, part_id: str, text: str) -> TextRun:
        """Stream text to a part. Its position is fixed now; it is reduced at the next flush.

        `journal.wait()` waits for it too. As long as the returned run is `flow`, the caller may append to its
        texts, and should then `count` and `journal.wait_room()` now and then.
        """
        flow = self.flow
        if flow is None or part_id != flow.part or kind != flow.kind or turn_id != flow.turn:
            flow = TextRun(kind, self.chat_uri, turn_id, part_id, [])
            # If the session was removed, the text goes to a run that nobody reads.
            if not self._is_expected and not self._expect():
                return flow
            self._streamed.append(flow)
            self.flow = flow
        flow.texts.append(text)
        self._counted += 1
        self.journal.buffered += 1
        return flow

    def count(self) -> None:
        """Update the journal's count of buffered text with what was appended to `flow`."""
        waiting = sum([len(run.texts) for run in self._streamed])
        self.journal.buffered += waiting - self._counted
        self._counted = waiting

    def act(
        self,
        action: SessionAction | ChatAction | StreamedText,
        origin: ActionOrigin | None = None,
        *,
        cut: int | None = None,
        messages: Sequence[TranscriptEntry] = (),
        private: Private | None = None,
        legacy: Sequence[Json] | None = None,
    ) -> int:
        """Apply an action of either channel: reduce and write it, and show it once it is durable.

        In the same transaction the transcript is cut at `cut`, `messages` are appended, and `private`
        replaces the private data. What follows from it in the session is applied too, see `derived`.
        `legacy` is what clients of an older protocol are shown, if one of them sent it.
        Return the ticket for `journal.wait`.
        """
        if not self._is_gone:
            # Encode first, so that a failure changes nothing.
            said = [message.encoded() for message in messages] if messages else []
            kept = None if private is None else encode_json(private)
            if self._streamed:
                self.flush_text()
            kind: Any = action["type"]
            if kind.startswith("chat/"):
                self._apply_to_chat(kind, action, origin, legacy)
            else:
                self._apply_to_session(kind, action, origin, legacy)
            if cut is not None:
                self._cut(cut)
            if said:
                self._append_messages(messages, said)
            if private is not None:
                self._keep(private, kept or b"")
            self._ticket = self.journal.ticket
        elif self.is_foreign:
            raise OwnedElsewhere(self.uri)
        return self.journal.ticket

    def _apply_to_chat(
        self, kind: str, action: Any, origin: ActionOrigin | None, sent: Sequence[Json] | None
    ) -> None:
        before = self._chat
        # Everything that can fail comes before `_append`: a failure changes nothing.
        after = reduce_chat(before, action)
        legacy = sent
        if sent is None and kind in FORMS and not is_plain(action, before.base):
            before_it = Conversation(self.state, before.state)
            legacy = self._legacy(action, before_it, Conversation(self.state, after.state))
        envelope = encode_entry(self.chat_uri, action, origin, legacy=legacy)
        self._chat = after
        if kind == "chat/turnStarted":
            self._began = (action["turnId"], self._clock() // NS_PER_MS)
        self._append(self.chat_uri, envelope, legacy, action, after)
        # Read without folding: streamed text never changes what the session shows.
        if kind not in QUIET and before.base is not after.base:
            # C2, once per group: `gather` tells all changes of the chat in one `chatUpdated`.
            if self._listed_chat is None and (self._is_expected or self._expect()):
                self._listed_chat = before.base
            for follows in derived_actions(self.state, kind, before.base, after.base):
                self._apply_to_session(follows["type"], follows, None, None)
        if kind in OFFERING:
            self._offer_changesets(kind, action)
        # The row says whether there is a turn to resume at the next start.
        if "activeTurn" in before.base and "activeTurn" not in after.base:
            self._has_new_row = self._is_expected or self._expect()

    def _offer_changesets(self, kind: str, action: Any) -> None:
        if "changesets" not in self.state and to_offer(self.state, kind, action):
            # K1: from the commit of the first change on.
            offer = actions.changesets_changed(offered_changesets(self.uri))
            self._apply_to_session(offer["type"], offer, None, None)

    def _apply_to_session(
        self, kind: str, action: Any, origin: ActionOrigin | None, sent: Sequence[Json] | None
    ) -> None:
        before = self.state
        after = next_session_state(before, action)
        legacy = sent
        if sent is None and kind in FORMS:
            chat = self._chat.state
            legacy = self._legacy(action, Conversation(before, chat), Conversation(after, chat))
        envelope = encode_entry(self.uri, action, origin, legacy=legacy)
        self.state = after
        self._append(self.uri, envelope, legacy, action, after)
        # The row has the summary, which lists read without loading the state.
        if before is not after:
            self._has_new_row = self._is_expected or self._expect()

    def follow_up(self, action: SessionAction) -> None:
        """Apply what follows in the session from an action in one of its further chats, in its commit."""
        self.check_own()
        if not self._is_gone:
            if self._streamed:
                self.flush_text()
            self._apply_to_session(action["type"], action, None, None)
            self._ticket = self.journal.ticket

    def _legacy(self, action: Any, before: Conversation, after: Conversation) -> Sequence[Any] | None:
        """Return what clients of an older protocol see of an action, if that depends on the states."""
        form = legacy_form(action, before.session, after.session, before.chat, after.chat, self.uri)
        return None if form is DEFAULT else form

    def _append(
        self, channel: str, envelope: bytes, legacy: Sequence[Json] | None, action: Any, after: Any
    ) -> None:
        count = 1 if legacy is None else len(legacy) or 1  # `count_numbers`, inlined
        item = LogItem(
            0, self.number, envelope, None, count, self.uri, channel, action, after, None, self._shower
        )
        self.journal.append(item)
        self.entries += 1
        if self.entries >= SNAPSHOT_ENTRIES:
            self._snapshot_if_due()

    def check(
        self, action: SessionAction | ChatAction | StreamedText, messages: Sequence[TranscriptEntry] = ()
    ) -> None:
        """Raise what `act` would raise, without changing anything."""
        for message in messages:
            message.encoded()
        checked: Any = action
        if checked["type"].startswith("chat/"):
            reduce_chat(Live(self.chat), checked)
        else:
            reduce_session(Live(self.state), checked)
        encode_json(action)

    def note(self, messages: Sequence[TranscriptEntry]) -> int:
        """Append to the transcript, without an action. Return the ticket."""
        self.check_own()
        self._append_messages(messages, [message.encoded() for message in messages])
        return self.journal.ticket

    def keep(self, private: Private) -> int:
        """Replace the private data, without an action. Return the ticket."""
        self.check_own()
        self._keep(private, encode_json(private))
        return self.journal.ticket

    def _keep(self, private: Private, encoded: bytes) -> None:
        self.private, self._private = private, encoded
        self._has_new_row = self._is_expected or self._expect()

    def refuse(
        self,
        channel: str,
        action: Any,
        origin: ActionOrigin,
        reason: str,
        client: Identity,
        *,
        secrets: Collection[str] = (),
        legacy: Any = None,
    ) -> LogItem:
        """Refuse a client's action. Only that client sees the refusal, and nothing changes (HR-A01).

        The caller passes it to the client once it is durable, see `journal.wait`. `secrets` are the names of
        fields that must not be stored, see `refusals`. `legacy` is the action as a client of an older
        protocol sent it.
        """
        self.check_own()
        self.flush_text()
        envelope = encode_entry(channel, action, origin, reason, legacy=legacy)
        count = count_numbers(legacy)
        item = LogItem(0, self.number, envelope, client.key, count, self.uri, channel, action, reason=reason)
        if self._is_gone:
            # Its log is gone, but its client still gets the reason (D1).
            self.journal.announce(item)
        else:
            self._ticket = self.journal.append(item, stored_refusal(item, origin, secrets))
            self.entries += 1
            self._snapshot_if_due()
        return item

    def check_own(self) -> None:
        """Refuse a session that another node writes.

        Raises:
            OwnedElsewhere: it is one.
        """
        if self.is_foreign:
            raise OwnedElsewhere(self.uri)

    def become_foreign(self) -> None:
        """Only follow from now on: another node writes it."""
        self.is_foreign = self._is_gone = True

    def become_own(self) -> None:
        """Write from now on. Everything that the other node wrote was followed."""
        self.is_foreign = self._is_gone = False

    def follow(self, item: LogItem) -> None:
        """Show what the node that writes it has written; `after` is the state that it leads to."""
        if item.channel is self.chat_uri:
            self._chat = item.after
        else:
            self.state = item.after
        self.entries += item.count
        self._show(item)

    def put_stored(self, row: SessionRow, private: Private) -> None:
        """Take over what the store has besides the states and the transcript."""
        self.row, self._private = row, row.private
        self.private = private
        self._measured = (0, 0)
        self._transcript = []

    def flush_text(self) -> None:
        """Apply the buffered text. Never raises: whoever streamed it has moved on."""
        streamed = self._streamed
        if not streamed:
            return
        self._streamed, self.flow = [], None
        self.journal.buffered -= self._counted
        self._counted = 0
        for flow in streamed:
            for run in flow.pieces():
                try:
                    self._apply_run(run)
                except (TypeError, UnicodeError) as error:
                    log.warning("invalid text of an agent in %s: %s", self.row.uri, error)
                    self._apply_run(run.mended())

    def _apply_run(self, run: TextRun) -> None:
        count = len(run.texts)
        if not count:
            return
        # As in `_apply_to_chat`: everything that can fail comes first.
        after = reduce_chat(self._chat, run.whole())
        packed = encode_json(run)
        self._chat = after
        uri, chat = self.uri, self.chat_uri
        item = LogItem(0, self.number, packed, None, count, uri, chat, None, after, None, self._shower, run)
        self._ticket = self.journal.append(item)
        self.entries += count
        if self.entries >= SNAPSHOT_ENTRIES:
            self._snapshot_if_due()

    def gather(self) -> None:
        """Append what is buffered to the journal's group: text, messages, and what is written once for it."""
        self._is_expected = False
        if self._streamed:
            self.flush_text()
        if self._listed_chat is not None:
            self._update_catalogue(self._listed_chat)
        if self._unwritten:
            self._write_messages()
        # Last: what was applied above may have changed the summary.
        if self._has_new_row:
            self._has_new_row = False
            self._ticket = self.journal.write([PutRow(self._fresh_row(), self.top.number)])

    def _update_catalogue(self, before: ChatState) -> None:
        """Update the chat's entry in the catalogue of the session (C2)."""
        self._listed_chat = None
        changes = summary_changes(before, self._chat.base)
        if changes:
            self._apply_update(actions.chat_updated(self.chat_uri, changes))

    def _apply_update(self, updated: SessionChatUpdatedAction) -> None:
        self._apply_to_session(updated["type"], updated, None, None)

    def leave(self) -> None:
        """Write nothing more, because the session is being removed. What its agent still says is dropped."""
        self.flush_text()
        self._unwritten = []
        self._listed_chat = None
        self._is_expected = self._has_new_row = False
        self._is_gone = True

    def _expect(self) -> bool:
        """Make the journal call `gather` for its next group. Return False if the session was removed."""
        if not self._is_gone:
            self._is_expected = True
            self._ticket = self.journal.expect(self)
        return self._is_expected

    def _append_messages(self, messages: Sequence[TranscriptEntry], encoded: list[bytes]) -> None:
        self.messages += messages
        if self._is_expected or self._expect():
            self._unwritten += encoded

    def _cut(self, position: int) -> None:
        # First: the positions in the store are those before the cut.
        self._write_messages()
        del self.messages[position:]
        del self._transcript[position:]
        self._measured = (0, 0)
        self._ticket = self.journal.write([CutMessages(self.number, position)])

    def _write_messages(self) -> None:
        if self._unwritten:
            position = len(self.messages) - len(self._unwritten)
            self._ticket = self.journal.write([AddMessages(self.number, position, tuple(self._unwritten))])
            self._unwritten = []

    def had_turn(self, turn_id: str) -> bool:
        """Return whether a turn with this id has ended here. Ids are cached; only new turns are read."""
        known, ids = self._ended
        turns = self.chat["turns"]
        if turns is not known:
            # Turns that have ended never change: if one is the same object, so are all before it.
            has_grown = len(turns) > len(known) and (not known or turns[len(known) - 1] is known[-1])
            start, ids = (len(known), ids) if has_grown else (0, set())
            ids.update([turn["id"] for turn in turns[start:]])
            self._ended = (turns, ids)
        return turn_id in ids

    def end_of(self, turn_id: str | None) -> int:
        """Return the position in the transcript after this turn, or after the imported messages."""
        turns = [turn["id"] for turn in self.chat["turns"]]
        kept = set(turns[: turns.index(turn_id) + 1]) if turn_id in turns else set()
        spoken = (place for place, said in enumerate(self.messages) if said.turn not in {None, *kept})
        return next(spoken, len(self.messages))

    def _snapshot_if_due(self) -> None:
        if (
            self.entries >= SNAPSHOT_ENTRIES
            and self.entries * SNAPSHOT_BYTES_PER_ENTRY >= self.snapshot_bytes
        ):
            self.journal.write([self.snapshot()])

    def encoded(self) -> bytes:
        """Return both states as they are stored."""
        return encode_json({"session": self.state, "chat": self.chat})

    def snapshot(self) -> PutSnapshot:
        """Return the write of a snapshot that includes everything up to now, for the journal's next group."""
        state = self.encoded()
        self.entries, self.snapshot_bytes = 0, len(state)
        return PutSnapshot(self.number, state)

    def _fresh_row(self) -> SessionRow:
        row = self.row
        # A session with deferred actions has to be resumed as well.
        is_active = "activeTurn" in self._chat.base or "deferred" in self.private
        self.row = SessionRow(
            *(row.number, row.uri, row.name, row.owner, is_active),
            *(self._listed(), self._private, row.parent),
        )
        return self.row

    def _listed(self) -> bytes:
        """Return the summary as it is stored."""
        return encode_json(self.summary())

    def _show(self, item: LogItem) -> None:
        # Set for every applied action.
        # `is` will do: `_append` is always given these very strings.
        if item.channel is self.chat_uri:
            self.shown_chat = item.after
        else:
            self.shown_state = item.after
        self.shown_seq = item.seq
        if item.run is not None:
            # A queued item must not keep this version of the state in memory.
            msgspec.structs.force_setattr(item, "after", None)
        self._publish(item)
