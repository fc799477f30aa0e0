"""Nodes on one PostgreSQL that are killed, stopped and cut off: nothing is lost, nothing happens twice.

The long form is `./run cluster`. `cluster/faults.py` has what is done, `cluster/checks.py` what must be true.
"""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from agenthost.host.storage import Entry, SessionRow
from agenthost.wire.json import encode_json
from cluster.checks import _check_ledger, _check_spans, _check_writers
from cluster.clients import Book
from cluster.harness import Harness
from crash.checks import Wrong
from databases import needs_postgres, own_postgres

SEED = 11
FAULTS = 30


@needs_postgres
def test_nothing_is_lost_and_nothing_happens_twice_over_many_faults(tmp_path: Path) -> None:
    with own_postgres() as database:
        harness = Harness(tmp_path, database, SEED, nodes=3, lease=2)
        summary = asyncio.run(harness.run(FAULTS))
    assert summary.faults.total() == FAULTS
    assert summary.turns["complete"] > 5
    assert summary.counts["envelopes"] > 100


# The checks can fail


def envelope(seq: int, kind: str = "chat/turnStarted") -> Any:
    return {"channel": "talker:/1", "serverSeq": seq, "action": {"type": kind}}


def entry(seq: int, kind: str = "chat/turnStarted") -> Entry:
    return Entry(seq, 1, encode_json(envelope(seq, kind)), None)


LOG = [entry(11), entry(12, "chat/delta"), entry(13, "chat/delta")]
ROW: Any = SessionRow


def test_a_number_that_is_given_twice_is_noticed() -> None:
    _check_ledger([(1, 10, 12, 1, 1), (2, 12, 13, 2, 1)], {})
    with pytest.raises(Wrong, match="group 2 has 11 13 after 12"):
        _check_ledger([(1, 10, 12, 1, 1), (2, 11, 13, 2, 1)], {})


def test_a_group_of_a_fenced_node_is_noticed() -> None:
    _check_ledger([(1, 10, 12, 1, 1), (2, 12, 13, 2, 1)], {1: 1})
    with pytest.raises(Wrong, match="node 1 was fenced at 1 and wrote 2"):
        _check_ledger([(1, 10, 12, 1, 1), (2, 12, 13, 1, 2)], {1: 1})


@pytest.mark.parametrize("seen", [[12], [11, 13], [11, 12, 12], [12, 11]])
def test_what_a_client_was_not_shown_or_shown_twice_is_noticed(seen: list[int]) -> None:
    kinds = {11: "chat/turnStarted", 12: "chat/delta", 13: "chat/delta"}
    whole, broken = Book(), Book()
    whole.new_span("talker:/1", 10).extend(envelope(seq, kinds[seq]) for seq in (11, 12))
    _check_spans(whole, LOG)
    broken.new_span("talker:/1", 10).extend(envelope(seq, kinds[seq]) for seq in seen)
    with pytest.raises(Wrong, match="was shown as"):
        _check_spans(broken, LOG)


def test_two_nodes_that_write_in_one_turn_are_noticed() -> None:
    rows: Any = [ROW]
    _check_writers(rows, LOG, [(1, 10, 12, 1, 1), (2, 12, 13, 2, 1)])
    ledger = [(1, 10, 11, 1, 1), (2, 11, 12, 2, 1), (3, 12, 13, 1, 2)]
    with pytest.raises(Wrong, match="went from node 1 to 2 in a turn, at 12"):
        _check_writers(rows, LOG, ledger)
