"""Both stores against a model of a few lines: any sequence of calls gives the same."""

import tempfile
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path

import msgspec
import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from agenthost.host.storage import (
    ROOT,
    AddMessages,
    CopyContent,
    CutMessages,
    DropLog,
    DropSession,
    Entry,
    PutContent,
    PutRow,
    PutSnapshot,
    StoredContent,
    StoredSession,
    Write,
    batch,
    index,
)
from databases import needs_postgres, new_store
from storing import added, commit, entry, row

CLIENTS = st.sampled_from([None, None, None, "me", "you"])


@dataclass
class Model:
    """What a store should hold, in the plainest way."""

    sessions: dict[int, StoredSession] = field(default_factory=dict)
    snapshots: dict[int, tuple[bytes, int]] = field(default_factory=dict)
    log: list[Entry] = field(default_factory=list)
    floors: dict[int, int] = field(default_factory=dict)
    contents: dict[tuple[int, str], bytes] = field(default_factory=dict)

    def trim(self, per_session: int, total: int) -> int:
        old = set()
        for resource in [ROOT, *self.sessions]:
            seqs = [entry.seq for entry in self.log if entry.resource == resource]
            old |= set(seqs[: max(len(seqs) - per_session, 0)])
        removed = self._remove(old)
        seqs = [entry.seq for entry in self.log]
        return removed + self._remove(set(seqs[: max(len(seqs) - total, 0)]))

    def _remove(self, old: set[int]) -> int:
        gone = [e for e in self.log if e.seq in old and e.seq <= self.snapshots.get(e.resource, (b"", -1))[1]]
        for e in gone:
            self.log.remove(e)
            self.floors[e.resource] = max(e.seq, self.floors.get(e.resource, 0))
        return len(gone)


class Compared(RuleBasedStateMachine):
    """A store and a model that are told the same. Writes pile up until they are committed."""

    kind = "sqlite"

    def __init__(self) -> None:
        super().__init__()
        self.made = ExitStack()
        folder = self.made.enter_context(tempfile.TemporaryDirectory())
        self.store = self.made.enter_context(new_store(self.kind, Path(folder)))
        self.model = Model()
        self.writes: list[Write] = []
        self.last_seq = self.last_number = 0

    @initialize()
    def open(self) -> None:
        self.store.open()

    def teardown(self) -> None:
        self.made.close()

    def pick(self, chosen: int) -> StoredSession | None:
        sessions = list(self.model.sessions.values())
        return sessions[chosen % len(sessions)] if sessions else None

    @rule(owner=st.sampled_from(["ann", "bob"]), is_active=st.booleans())
    def add_session(self, owner: str, is_active: bool) -> None:
        self.last_number += 1
        write = added(self.last_number, owner=owner, is_active=is_active, state_seq=self.last_seq)
        self.writes.append(write)
        session = StoredSession(write.row, write.state, write.state_seq, [], list(write.messages))
        self.model.sessions[self.last_number] = session
        self.model.snapshots[self.last_number] = (write.state, write.state_seq)

    @rule(chosen=st.integers(0, 9), only_for=CLIENTS, count=st.integers(1, 4), root=st.booleans())
    def append(self, chosen: int, only_for: str | None, count: int, root: bool) -> None:
        session = self.pick(chosen)
        number = ROOT if root or not session else session.row.number
        for _ in range(count):
            self.last_seq += 1
            self.writes.append(entry(self.last_seq, number, only_for))
            self.model.log.append(entry(self.last_seq, number, only_for))

    @rule(chosen=st.integers(0, 9), back=st.integers(0, 3), root=st.booleans())
    def put_snapshot(self, chosen: int, back: int, root: bool) -> None:
        session = self.pick(chosen)
        number = ROOT if root or not session else session.row.number
        seq = max(self.last_seq - back, self.model.snapshots.get(number, (b"", 0))[1])
        self.writes.append(PutSnapshot(number, b"state %d" % seq, seq))
        self.model.snapshots[number] = (b"state %d" % seq, seq)

    @rule(chosen=st.integers(0, 9), is_active=st.booleans(), summary=st.binary(max_size=3))
    def put_row(self, chosen: int, is_active: bool, summary: bytes) -> None:
        if session := self.pick(chosen):
            new = msgspec.structs.replace(session.row, is_active=is_active, summary=summary)
            self.writes.append(PutRow(new))
            self.model.sessions[new.number] = replace(session, row=new)

    @rule(
        chosen=st.integers(0, 9), cut=st.integers(0, 4), messages=st.lists(st.binary(max_size=3), max_size=3)
    )
    def change_transcript(self, chosen: int, cut: int, messages: list[bytes]) -> None:
        if session := self.pick(chosen):
            number = session.row.number
            del session.messages[cut:]
            add = AddMessages(number, len(session.messages), tuple(messages))
            self.writes += [CutMessages(number, cut), add]
            session.messages.extend(messages)

    @rule(chosen=st.integers(0, 9), content_id=st.sampled_from("ab"), data=st.binary(max_size=3))
    def put_content(self, chosen: int, content_id: str, data: bytes) -> None:
        if session := self.pick(chosen):
            self.writes.append(PutContent(session.row.number, content_id, "text/plain", data))
            self.model.contents[session.row.number, content_id] = data

    @rule(chosen=st.integers(0, 9), other=st.integers(0, 9))
    def copy_content(self, chosen: int, other: int) -> None:
        if (source := self.pick(chosen)) and (target := self.pick(other)):
            numbers = source.row.number, target.row.number
            self.writes.append(CopyContent(*numbers))
            found = {key: data for (number, key), data in self.model.contents.items() if number == numbers[0]}
            self.model.contents |= {(numbers[1], key): data for key, data in found.items()}

    @rule(chosen=st.integers(0, 9), back=st.integers(0, 3), root=st.booleans())
    def drop_log(self, chosen: int, back: int, root: bool) -> None:
        session = self.pick(chosen)
        number = ROOT if root or not session else session.row.number
        up_to = max(self.model.snapshots.get(number, (b"", 0))[1] - back, 0)
        self.writes.append(DropLog(number, up_to))
        self.model.log = [e for e in self.model.log if e.resource != number or e.seq > up_to]
        self.model.floors[number] = max(up_to, self.model.floors.get(number, 0))

    @rule(chosen=st.integers(0, 9))
    def drop(self, chosen: int) -> None:
        if session := self.pick(chosen):
            number = session.row.number
            self.writes.append(DropSession(number))
            del self.model.sessions[number], self.model.snapshots[number]
            self.model.floors.pop(number, None)
            self.model.log = [entry for entry in self.model.log if entry.resource != number]
            for content_id in "ab":
                self.model.contents.pop((number, content_id), None)

    @rule()
    def commit(self) -> None:
        commit(self.store, self.writes, self.last_seq)
        self.writes = []

    @rule(per_session=st.integers(0, 12), total=st.integers(0, 12))
    def trim(self, per_session: int, total: int) -> None:
        self.commit()
        assert self.store.trim(per_session, total) == self.model.trim(per_session, total)

    @rule()
    def restart(self) -> None:
        self.commit()
        self.store.close()
        opening = self.store.open()
        rows = [session.row for session in self.model.sessions.values()]
        assert (opening.last_seq, opening.last_number) == (self.last_seq, self.last_number)
        assert opening.session_count == len(rows)
        assert opening.active == [row.number for row in rows if row.is_active]
        assert (opening.root, opening.root_seq) == self.model.snapshots.get(ROOT, (None, 0))
        log = [entry for entry in self.model.log if entry.resource == ROOT]
        assert opening.root_entries == [entry for entry in log if entry.seq > opening.root_seq]

    def read_pages(
        self, after: int, resources: set[int], client: str, max_bytes: int
    ) -> list[Sequence[Entry]]:
        pages: list[Sequence[Entry]] = []
        while page := self.store.replay(after, resources, client, max_bytes):
            pages.append(page)
            after = page[-1].seq
        return pages

    @rule(
        after=st.integers(0, 40),
        chosen=st.lists(st.integers(0, 9), max_size=3),
        max_bytes=st.integers(0, 60),
    )
    def compare_replays(self, after: int, chosen: list[int], max_bytes: int) -> None:
        self.commit()
        resources = {ROOT, *(found.row.number for one in chosen if (found := self.pick(one)))}
        for client in ("me", "you"):
            expected = [
                entry
                for entry in self.model.log
                if entry.seq > after and entry.resource in resources and entry.only_for in (None, client)
            ]
            assert self.store.replay(after, resources, client) == expected
            pages = self.read_pages(after, resources, client, max_bytes)
            assert [entry for page in pages for entry in page] == expected
            for page in pages:
                assert sum(len(entry.envelope) for entry in page[:-1]) <= max_bytes
        assert self.store.floor(resources) == max(self.model.floors.get(one, 0) for one in resources)

    @rule(
        owner=st.sampled_from([None, "ann", "bob"]),
        before=st.none() | st.integers(0, 9),
        limit=st.integers(0, 4),
    )
    def compare_lists(self, owner: str | None, before: int | None, limit: int) -> None:
        self.commit()
        rows = [session.row for session in reversed(self.model.sessions.values())]
        rows = [row for row in rows if owner in (None, row.owner) and (before is None or row.number < before)]
        assert self.store.list(owner=owner, before=before, limit=limit) == rows[:limit]

    @invariant()
    def all_sessions_are_the_same_once_committed(self) -> None:
        if self.writes:
            return
        for number, session in self.model.sessions.items():
            state, seq = self.model.snapshots[number]
            entries = [entry for entry in self.model.log if entry.resource == number and entry.seq > seq]
            expected = replace(session, state=state, state_seq=seq, entries=entries)
            assert self.store.load(number) == expected
            assert self.store.find(name=row(number).name) == session.row
        for number in range(1, self.last_number + 1):
            for content_id in "ab":
                data = self.model.contents.get((number, content_id))
                expected_content = None if data is None else StoredContent("text/plain", data)
                assert self.store.content(number, content_id) == expected_content


class ComparedOnPostgres(Compared):
    kind = "postgres"


def compare(machine: type[Compared], examples: int) -> None:
    case = machine.TestCase
    case.settings = settings(max_examples=examples, stateful_step_count=30)
    case().runTest()


@pytest.mark.parametrize("at_once", [3, index.MAX_UNINDEXED])
def test_any_sequence_of_calls_gives_what_the_model_gives(
    at_once: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(batch, "MAX_UNINDEXED", at_once)
    compare(Compared, 40)


@needs_postgres
def test_any_sequence_of_calls_gives_what_the_model_gives_on_postgres() -> None:
    compare(ComparedOnPostgres, 25)
