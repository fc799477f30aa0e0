"""What this node follows: the sessions, chats and the root that other nodes write.

They are read from the log as those nodes commit, and shown here in the same order and with the same bytes.
"""

import logging
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from agenthost.core.reducers import next_session_state, reduce_chat
from agenthost.host.access.identity import Identity
from agenthost.host.log.entries import first_line
from agenthost.host.log.subscriptions import Hub, LogItem
from agenthost.host.log.text_runs import run_of
from agenthost.host.state.memory import SessionMemory
from agenthost.host.state.root import Root
from agenthost.host.state.session import Session, TranscriptEntry
from agenthost.host.storage import ROOT, Entry, StoredSession
from agenthost.host.storage.shared import Committed, Progress, SharedStorage
from agenthost.wire.ahp.actions.text import ACTION
from agenthost.wire.json import decode_json

__all__ = ["Followed", "entry_item", "refresh"]

log = logging.getLogger("agenthost.follow")

_TRUNCATED = b'"chat/truncated"'


@dataclass(slots=True)
class Found:
    """What was read: entries of the log, and what became of rows and transcripts."""

    entries: Sequence[Entry]
    progress: Mapping[int, Progress] = field(default_factory=dict)


class Followed:
    """Follows what other nodes write. Implements `Followers` of the line.

    `deliver` sends a refusal to its client, if that is connected here. `noted` are called with each commit
    that was shown.
    """

    def __init__(
        self,
        storage: SharedStorage,
        memory: SessionMemory,
        *,
        root: Root,
        hub: Hub,
        deliver: Callable[[Identity, LogItem], None],
    ) -> None:
        self._storage = storage
        self._memory = memory
        self._root = root
        self._hub = hub
        self._deliver = deliver
        self._loading: dict[int, list[Entry]] = {}
        self.noted: list[Callable[[Committed], None]] = []

    def begin(self, number: int) -> None:
        """Collect what is written of a session while it is loaded."""
        self._loading.setdefault(number, [])

    def finish(self, session: Session) -> None:
        """Follow a session that was loaded, from what it was loaded with. It is in memory from now on."""
        for entry in self._loading.pop(session.number, []):
            self._show_entry(session, entry)

    def give_up(self, number: int) -> None:
        """Stop collecting what is written of a session."""
        self._loading.pop(number, None)

    # For the line

    def wanted(self, commits: Sequence[Committed]) -> set[int]:
        """Return the resources of these commits that are followed here."""
        foreign = self._memory.foreign
        known = {*foreign, *self._loading, *([ROOT] if self._root.is_foreign else [])}
        if not known:
            return known
        wanted: set[int] = set()
        for commit in commits:
            if commit.resources is None:
                return known
            wanted |= known & commit.resources
            wanted |= {number for number, how in commit.rows.items() if number in foreign and how == "~"}
        return wanted

    def read(self, commits: Sequence[Committed], wanted: Collection[int]) -> Found:
        """Read what these commits are about, in a thread."""
        entries = self._storage.entries_between(commits[0].base, commits[-1].last_seq, wanted)
        known: dict[int, int] = {}
        foreign = self._memory.foreign
        for number in wanted:
            session = foreign.get(number)
            if session is not None:
                known[number] = len(session.messages)
        for entry in entries:
            if entry.resource in known and _TRUNCATED in entry.envelope:
                known[entry.resource] = 0
        return Found(entries, self._storage.progress(known) if known else {})

    def show(self, found: Found) -> None:
        """Show what was read."""
        foreign = self._memory.foreign
        for number, progress in found.progress.items():
            session = foreign.get(number)
            if session is not None:
                _update(session, progress)
        for entry in found.entries:
            collected = self._loading.get(entry.resource)
            session = foreign.get(entry.resource)
            if entry.resource == ROOT:
                self._root.follow(entry)
            elif collected is not None:
                collected.append(entry)
            elif session is not None:
                self._show_entry(session, entry)

    def note(self, commit: Committed) -> None:
        """Pass on what else a commit says, and forget sessions that are gone."""
        if commit.node != self._storage.node:
            for number, how in commit.rows.items():
                session = self._memory.foreign.get(number)
                if how == "-" and session is not None:
                    self._forget(session)
        for noted in self.noted:
            noted(commit)

    def _forget(self, session: Session) -> None:
        self._memory.remove(session.uri)
        session.leave()
        self._hub.drop(session.number)
        self._memory.drops += 1

    def _show_entry(self, session: Session, entry: Entry) -> None:
        if entry.seq <= session.shown_seq:
            return
        item = entry_item(session, entry)
        if item.reason is None:
            session.follow(item)
        elif entry.only_for is not None:
            session.shown_seq = entry.seq
            self._deliver(Identity.from_key(entry.only_for), item)


def entry_item(session: Session, entry: Entry) -> LogItem:
    """Return an entry of a session's log, as it is shown, with the state that it leads to."""
    run = run_of(entry)
    uri, chat = session.uri, session.chat_uri
    head = (entry.seq, session.number, entry.envelope, entry.only_for)
    if run is not None:
        after: Any = reduce_chat(session.shown_chat, run.whole())
        return LogItem(*head, len(run.texts), uri, chat, None, after, run=run)
    envelope = decode_json(first_line(entry.envelope, entry.seq))
    count = max(1, entry.envelope.count(b"\n"))
    action: Any = ACTION.take(envelope["action"])
    is_chat = envelope["channel"] == chat
    channel = chat if is_chat else uri
    reason = envelope.get("rejectionReason")
    if reason is not None:
        return LogItem(*head, count, uri, envelope["channel"], action, reason=reason)
    after = reduce_chat(session.shown_chat, action) if is_chat else None
    if not is_chat:
        after = next_session_state(session.shown_state, action)
    return LogItem(*head, count, uri, channel, action, after)


def _update(session: Session, progress: Progress) -> None:
    del session.messages[progress.position :]
    session.messages += [_message(body) for body in progress.messages]
    session.put_stored(progress.row, decode_json(progress.row.private))


def _message(body: bytes) -> TranscriptEntry:
    found = decode_json(body)
    return TranscriptEntry(found["turn"], found["message"])


def refresh(session: Session, stored: StoredSession) -> None:
    """Give a session that was followed all that its writer needs, as the store has it."""
    session.messages[:] = map(_message, stored.messages)
    session.put_stored(stored.row, decode_json(stored.row.private))
    session.entries, session.snapshot_bytes = len(stored.entries), len(stored.state)
