"""A host that is killed again and again, and one whose disk fails it: nothing is lost, nothing happens twice.

The long form is `./run crash`. `crash/harness.py` has what is done, `crash/checks.py` what has to be true.
"""

from pathlib import Path

import pytest

from agenthost.host.storage.postgres.store import PostgresStorage
from agenthost.host.storage.sqlite import SqliteStorage
from agenthost.wire.ahp import ROOT_URI
from crash.checks import Checker, Seen, Wrong
from crash.faults import Fault
from crash.harness import Death, Harness
from crash.model import scripted_model
from crash.places import Database
from databases import needs_postgres, own_postgres

SEED = 7
KILLS = 20


def test_nothing_is_lost_and_nothing_happens_twice_over_many_kills(tmp_path: Path) -> None:
    summary = Harness(tmp_path, SEED).run(KILLS)
    assert summary.kills == KILLS
    assert summary.found.turns["complete"] > 20
    assert summary.chats > 5


@needs_postgres
@pytest.mark.parametrize("kills", [6, pytest.param(60, marks=pytest.mark.long)])
def test_nothing_is_lost_and_nothing_happens_twice_on_postgres(tmp_path: Path, kills: int) -> None:
    with own_postgres() as server:
        summary = Harness(tmp_path, SEED, place=Database(server, PostgresStorage)).run(kills)
    assert summary.kills == kills
    assert summary.found.turns["complete"] > 20


@pytest.mark.parametrize(
    ("kind", "sentence"),
    [
        ("full", "the disk is full; free some space"),
        ("limit", "the disk reports an error; check it and its free space"),
        ("lock", "is locked by another program; close what has it open"),
    ],
)
def test_a_fault_of_the_disk_is_told_loses_nothing_and_passes(
    tmp_path: Path, kind: str, sentence: str
) -> None:
    harness = Harness(tmp_path, SEED)
    harness.live(Death(lines=600))
    harness.live(None, Fault(kind, after=0.05, seconds=0.3), until=18)
    summary = harness.finish()
    words = [line.split()[0] for line in summary.told]
    assert words == ["trouble", "told", "over"]
    assert all(sentence in line for line in summary.told[:2])


def test_a_model_that_is_asked_again_says_and_does_nothing_twice(tmp_path: Path) -> None:
    with scripted_model(tmp_path, SEED) as service:
        harness = Harness(tmp_path, SEED, service)
        harness.live(Death(lines=60, mark="chat/delta", wait=20))
        harness.live(Death(lines=2, mark="toolCallReady", later=0.002, wait=20))
        summary = harness.finish()
    assert summary.kills == 2
    assert summary.found.turns["complete"] > 20


@pytest.mark.parametrize("kind", ["full", "lock"])
def test_a_kill_in_the_middle_of_a_fault_loses_nothing_that_was_shown(tmp_path: Path, kind: str) -> None:
    harness = Harness(tmp_path, SEED)
    harness.live(Death(lines=300))
    harness.live(Death(lines=1, mark="trouble", later=0.05, wait=20), Fault(kind, after=0.05, seconds=5))
    summary = harness.finish()
    assert [line.split()[0] for line in summary.told][:1] == ["trouble"]


def test_the_checks_find_what_is_wrong(tmp_path: Path) -> None:
    """A check that cannot fail proves nothing: here something was shown that the store does not have."""
    harness = Harness(tmp_path, SEED)
    harness.live(Death(lines=400))
    seen = Seen(shown={ROOT_URI: [(10**15, b"{}")]})
    with pytest.raises(Wrong, match="differs"):
        Checker().check(SqliteStorage(tmp_path / "data"), tmp_path / "notes.txt", seen, [], at_end=False)
    seen = Seen(durable=10**15)
    with pytest.raises(Wrong, match="durable was 1000000000000000"):
        Checker().check(SqliteStorage(tmp_path / "data"), tmp_path / "notes.txt", seen, [], at_end=False)
    (tmp_path / "notes.txt").write_text("call_1 once\ncall_1 once\n")
    with pytest.raises(Wrong, match="ran twice"):
        Checker().check(SqliteStorage(tmp_path / "data"), tmp_path / "notes.txt", Seen(), [], at_end=False)
