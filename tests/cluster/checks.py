"""What has to be true at the end: I1 to I9 of the cluster test, as far as the store and the clients tell."""

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from agenthost.host.log.text_runs import unpack
from agenthost.host.storage import ROOT, SessionRow
from agenthost.host.storage.postgres.store import PostgresStorage
from agenthost.wire.json import decode_json
from cluster.clients import Book
from crash.checks import Checker, Found, Seen, demand
from crash.plan import SessionPlan

_LEDGER = "SELECT place, base, last_seq, node, ordinal FROM ledger ORDER BY place"


def check_store(url: str, notes: Path, book: Book, fenced: dict[int, int]) -> Found:
    """Check a store that no node uses any more. Return what turns there were."""
    storage = PostgresStorage(url)
    storage.open()
    try:
        rows = _all_rows(storage)
        log = unpack(storage.replay(0, [ROOT, *(row.number for row in rows)], ""))
        ledger = storage.rows(_LEDGER)
        _check_ledger(ledger, fenced)
        _check_spans(book, log)
        _check_writers(rows, log, ledger)
        _check_messages(storage, rows, book)
    finally:
        storage.close()
    plans = [SessionPlan(0, row.uri, row.uri.partition(":")[0]) for row in rows]
    seen = Seen(made=set(book.made))
    missing = book.made - {row.uri for row in rows}
    demand(not missing, "were made and are not there:", missing)
    return Checker().check(PostgresStorage(url), notes, seen, plans, at_end=False)  # I3, I7


def _all_rows(storage: PostgresStorage) -> list[SessionRow]:
    rows: list[SessionRow] = []
    before = None
    while page := storage.list(owner=None, before=before, limit=500):
        rows += page
        before = page[-1].number
    return rows


def _check_ledger(ledger: Sequence[Sequence[Any]], fenced: dict[int, int]) -> None:
    """I4: numbers and groups are given once. I5: a fenced node writes nothing."""
    last = 0
    for place, base, last_seq, node, ordinal in ledger:
        demand(base >= last and last_seq >= base, "group", place, "has", base, last_seq, "after", last)
        last = last_seq
        late = place > fenced.get(node, place)
        demand(not late, "node", node, "was fenced at", fenced.get(node), "and wrote", place)
        demand(ordinal >= 0, "node", node, "wrote", ordinal)
    groups = [(node, ordinal) for _, _, _, node, ordinal in ledger]
    demand(len(groups) == len(set(groups)), "a group is there twice")


def _check_spans(book: Book, log: Sequence[Any]) -> None:
    """I2: what a client saw of a channel is the log, from its first number to its last."""
    logged: dict[str, list[Any]] = {}
    for entry in log:
        envelope = decode_json(entry.envelope)
        if entry.only_for is None:
            logged.setdefault(envelope["channel"], []).append(envelope)
    for channel, begun, seen in book.spans:
        ended = seen[-1]["serverSeq"] if seen else begun
        expected = [one for one in logged.get(channel, []) if begun < one["serverSeq"] <= ended]
        if seen != expected:
            numbers = ([one["serverSeq"] for one in seen], [one["serverSeq"] for one in expected])
            demand(False, channel, "was shown as", *numbers)


def _check_writers(rows: Sequence[SessionRow], log: Sequence[Any], ledger: Sequence[Sequence[Any]]) -> None:
    """I6: while it has a turn, a session changes its node only because the other one is gone for good."""
    groups = iter(ledger)
    group = next(groups)
    last_of = {node: last_seq for _, _, last_seq, node, _ in ledger}
    writer: dict[int, int] = {}
    active: Counter[int] = Counter()
    for entry in log:
        while group[2] < entry.seq:
            group = next(groups)
        node = group[3]
        before = writer.setdefault(entry.resource, node)
        is_moved_in_turn = before != node and active[entry.resource] > 0 and entry.resource != ROOT
        demand(
            not is_moved_in_turn or last_of[before] < entry.seq,
            *("session", entry.resource, "went from node", before, "to", node, "in a turn, at", entry.seq),
        )
        writer[entry.resource] = node
        kind = decode_json(entry.envelope)["action"]["type"]
        if entry.only_for is None and kind == "chat/turnStarted":
            active[entry.resource] = 1
        elif kind in ("chat/turnComplete", "chat/turnCancelled", "chat/error"):
            active[entry.resource] = 0
    demand(bool(rows), "nothing was made")


def _check_messages(storage: PostgresStorage, rows: Sequence[SessionRow], book: Book) -> None:
    """I7: each message of a user is there once, and what was told of its answer is the beginning of it."""
    said: dict[str, str] = {}
    for row in rows:
        stored = storage.load(row.number)
        assert stored is not None
        for body in stored.messages:
            one = decode_json(body)["message"]
            if one["role"] == "user":
                demand(one["content"] not in said, one["content"], "is there twice")
                text = said[one["content"]] = ""
            elif one["role"] == "assistant":
                text = next(reversed(said))
                said[text] += _words(one["content"])
    for text, told in book.told.items():
        demand(text in said, text, "was answered and is not there")
        demand(said[text].startswith(told), text, "was told as", told, "and is", said[text])


def _words(content: Any) -> str:
    if isinstance(content, str):
        return content
    return "".join(block.get("text", "") for block in content if block["type"] == "text")
