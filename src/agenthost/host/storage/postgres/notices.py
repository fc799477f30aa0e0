"""Notices: what nodes of a host are told of each commit, in the order of the numbers, and of each other.

A notice of a commit has its place in the ledger, its node, ordinal, base and count, then the resources with
new entries, the session rows that changed, and a mark if clients came or went. PostgreSQL takes less than
8,000 bytes; of a larger one only a star is sent, and whoever needs to know looks it up.
"""

from collections.abc import Collection, Mapping

from agenthost.host.storage.shared import Committed, NodeNotice

__all__ = ["MAX_ABOUT", "encode_about", "parse_notice"]

MAX_ABOUT = 7_000
"""How long the part about the contents of a commit may be."""

_UNKNOWN = "*"
_PRESENCE = "p"


def encode_about(resources: Collection[int], rows: Mapping[int, str], *, has_presence: bool) -> str:
    """Return the end of a notice. `rows` says of each session whether it was added, changed or removed."""
    listed = ",".join(f"{how}{number}" for number, how in rows.items())
    about = f"{','.join(map(str, sorted(resources)))}|{listed}|{_PRESENCE if has_presence else ''}"
    return about if len(about) <= MAX_ABOUT else _UNKNOWN


def parse_notice(text: str) -> Committed | NodeNotice:
    """Return what a notice says."""
    kind, _, rest = text.partition(" ")
    if not kind.isdigit():
        return NodeNotice(kind, int(rest or 0))
    node, ordinal, base, count, about = rest.split(" ")
    numbers = (int(kind), int(node), int(ordinal), int(base), int(count))
    if about == _UNKNOWN:
        return Committed(*numbers)
    resources, listed, presence = about.split("|")
    return Committed(
        *numbers,
        resources=frozenset(map(int, filter(None, resources.split(",")))),
        rows={int(one[1:]): one[0] for one in listed.split(",") if one},
        has_presence=presence == _PRESENCE,
    )
