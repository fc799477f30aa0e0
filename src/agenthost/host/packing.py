"""Packing: text that streams goes to the store in runs, not one row for each delta.

The entries of one group that stream text into one session, with nothing else of that session between them,
are stored as one: their envelopes, one a line, under the number of the last. A row costs the store more
than everything else does for a delta; so a run costs as much as one.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from agenthost.host.storage import Entry, Write
from agenthost.host.subscriptions import Shown
from agenthost.wire.ahp.actions.text import TextAction
from agenthost.wire.json import decode_json

MAX_RUN = 1_000
"""How many envelopes a run may have, so that reading one stays quick."""


@dataclass(slots=True)
class _Run:
    """A run that is still open: where its last entry stands, and its envelopes so far."""

    place: int
    envelopes: list[bytes]


def pack(writes: Sequence[Write]) -> list[Write]:
    """Give the same writes, in order, with the runs packed. A run stands where its last entry stood."""
    packed: list[Write | _Run | None] = list(writes)
    open_runs: dict[int, _Run] = {}
    for place, write in enumerate(writes):
        if not isinstance(write, Entry):
            continue
        if not isinstance(write, Shown) or not isinstance(write.action, TextAction):
            open_runs.pop(write.resource, None)
            continue
        run = open_runs.get(write.resource)
        if run is None or len(run.envelopes) >= MAX_RUN:
            run = open_runs[write.resource] = _Run(place, [])
        else:
            packed[run.place] = None
        packed[place] = run
        run.place = place
        run.envelopes.append(write.envelope)
    return [_closed(writes[place], item) for place, item in enumerate(packed) if item is not None]


def _closed(last: Write, item: Write | _Run) -> Write:
    if not isinstance(item, _Run):
        return item
    return Entry(last.seq, last.resource, b"\n".join(item.envelopes))  # type: ignore[union-attr] # an entry


def unpack(entries: Iterable[Entry], after: int = 0) -> list[Entry]:
    """Give the envelopes of stored entries one by one, in the order of their numbers, from after this one."""
    single = [part for entry in entries for part in _parts(entry) if part.seq > after]
    return sorted(single, key=lambda entry: entry.seq)


def _parts(entry: Entry) -> list[Entry]:
    # JSON as we write it has no line ends, so one in an envelope is between two.
    if b"\n" not in entry.envelope:
        return [entry]
    lines = entry.envelope.split(b"\n")
    return [Entry(decode_json(line)["serverSeq"], entry.resource, line, entry.only_for) for line in lines]
