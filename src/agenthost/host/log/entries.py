"""Entries of the log as they are stored: an envelope, and perhaps what older clients are sent instead.

An envelope is one line. Where clients of an older protocol are sent actions that do not follow from the
action alone, their envelopes are stored after it, a line each. JSON has no line ends. A run of text is a
list, see `text_runs`.
"""

from collections.abc import Sequence

from agenthost.wire.ahp.actions.envelope import ActionOrigin
from agenthost.wire.json import JsonObject, encode_json

__all__ = ["NOTHING", "first_line", "legacy_lines", "with_legacy"]

NOTHING = b"-"
"""The line of an action that older clients do not see."""


def with_legacy(
    envelope: bytes,
    legacy: Sequence[JsonObject],
    seq: int,
    origin: ActionOrigin | None = None,
    reason: str | None = None,
) -> bytes:
    """Return an entry: the envelope, and those of the legacy actions, of which the last is number `seq`."""
    lines = [envelope]
    for number, action in enumerate(legacy, seq - len(legacy) + 1):
        old: JsonObject = {"action": action, "serverSeq": number}
        if origin is not None and number == seq:
            old["origin"] = origin
        if reason is not None:
            old["rejectionReason"] = reason
        lines.append(encode_json(old))
    return b"\n".join(lines if legacy else [envelope, NOTHING])


def first_line(entry: bytes) -> bytes:
    """Return the envelope of an entry."""
    return entry if b"\n" not in entry else entry[: entry.index(b"\n")]


def legacy_lines(entry: bytes) -> list[bytes] | None:
    """Return the envelopes for older clients that were stored with an entry; `None` if none were."""
    if b"\n" not in entry:
        return None
    _, *lines = entry.split(b"\n")
    return [] if lines == [NOTHING] else lines
