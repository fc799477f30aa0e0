"""Entries of the log as they are stored: an envelope, and perhaps what older clients are sent instead.

An envelope is one line. Where clients of an older protocol are sent actions that do not follow from the
action alone, their envelopes are stored after it, a line each. JSON has no line ends. A run of text is a
list, see `text_runs`.

A line has no sequence number, which is assigned when the entry is committed. It is a JSON object without its
braces, so that the number is put in without decoding it. Older hosts stored whole objects, numbers included.
"""

from collections.abc import Sequence
from functools import lru_cache

from agenthost.wire.ahp.actions.envelope import ActionOrigin
from agenthost.wire.ahp.actions.text import Action
from agenthost.wire.json import JsonObject, encode_json

__all__ = ["NOTHING", "count_numbers", "encode_entry", "encode_line", "first_line", "legacy_lines"]

NOTHING = b"-"
"""The line of an action that older clients do not see."""

MAX_HEADS = 4_096
"""For how many channels the beginning of their envelopes is remembered."""

_NUMBERED = b'{%b,"serverSeq":%d}'
_WHOLE = b"{"  # how a line of an older host begins, which has its number


def encode_entry(
    channel: str,
    action: Action,
    origin: ActionOrigin | None = None,
    reason: str | None = None,
    *,
    legacy: Sequence[JsonObject] | None = None,
) -> bytes:
    """Encode the entry of an action, once for everybody.

    `legacy` are the actions that clients of an older protocol are sent instead, if those do not follow from
    the action alone. See `count_numbers`.
    """
    line = _head(channel) + encode_json(action)
    if origin is not None:
        line += b',"origin":' + encode_json(origin)
    if reason is not None:
        line += b',"rejectionReason":' + encode_json(reason)
    return line if legacy is None else b"\n".join([line, *_legacy_lines(legacy, origin, reason)])


@lru_cache(MAX_HEADS)
def _head(channel: str) -> bytes:
    # Cached: all actions of a channel begin alike.
    return encode_json({"channel": channel})[1:-1] + b',"action":'


def _legacy_lines(
    legacy: Sequence[JsonObject], origin: ActionOrigin | None, reason: str | None
) -> list[bytes]:
    lines = []
    for left, action in enumerate(legacy, 1 - len(legacy)):
        old: JsonObject = {"action": action}
        # A client takes the origin for the echo of its action, so only the last has it.
        if origin is not None and left == 0:
            old["origin"] = origin
        if reason is not None:
            old["rejectionReason"] = reason
        lines.append(encode_json(old)[1:-1])
    return lines or [NOTHING]


def count_numbers(legacy: Sequence[JsonObject] | None) -> int:
    """Return how many numbers an entry takes: each legacy action has its own, and the envelope the last."""
    # At least one: clients of today are sent the envelope even if older ones see nothing.
    return 1 if legacy is None else len(legacy) or 1


def encode_line(envelope: JsonObject) -> bytes:
    """Encode an envelope that has no number yet."""
    return encode_json(envelope)[1:-1]


def first_line(entry: bytes, seq: int) -> bytes:
    """Return the envelope of an entry, with its number."""
    line = entry if b"\n" not in entry else entry[: entry.index(b"\n")]
    return line if line.startswith(_WHOLE) else _NUMBERED % (line, seq)


def legacy_lines(entry: bytes, seq: int) -> list[bytes] | None:
    """Return the envelopes for older clients that were stored with an entry; `None` if none were.

    They are numbered up to `seq`, the number of the entry.
    """
    if b"\n" not in entry:
        return None
    _, *lines = entry.split(b"\n")
    if lines == [NOTHING]:
        return []
    if lines[0].startswith(_WHOLE):
        return lines
    return [_NUMBERED % (line, number) for number, line in enumerate(lines, seq - len(lines) + 1)]
