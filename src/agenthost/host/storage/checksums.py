"""Checksums: one for each row, over its key and all that it holds, so that damage on the disk is noticed.

CRC-32 finds every flip of up to 32 bits in a row, and all but one in four billion of other changes. It is
against failing disks and memory, not against people: whoever can write the file can write the checksum too.
The key is part of it, so that a row that turns up in the place of another is noticed as well: what every turn
needs begins with a number made of the key, as to pack keys first would be felt. Knows no SQL.
"""

from struct import Struct, error
from zlib import crc32

__all__ = [
    "RowDamaged",
    "content_sum",
    "entry_sum",
    "is_sound",
    "message_sum",
    "names_sum",
    "numbers_sum",
    "row_sum",
    "snapshot_sum",
]

_two = Struct("<qq").pack
_five = Struct("<qqqqq").pack


class RowDamaged(Exception):
    """A row is not as it was written; the words say which, for the log."""


def entry_sum(seq: int, resource: int, envelope: bytes, only_for: str | None = None) -> int:
    """Return the checksum of an entry of the log."""
    # `crc32` takes the low 32 bits of what it begins with; the others are compared with the numbers in use.
    start = seq + resource
    if only_for is not None:
        start = crc32(b"\0" + _bytes(only_for), start)
    return crc32(envelope, start)


def message_sum(number: int, position: int, body: bytes) -> int:
    """Return the checksum of a message of a transcript."""
    return crc32(body, 65_537 * number + position)


def snapshot_sum(number: int, state_seq: int, state: bytes) -> int:
    """Return the checksum of a snapshot, and of the number up to which it holds everything."""
    return crc32(state, crc32(_two(number, state_seq)))


def row_sum(number: int, is_active: int, summary: bytes, private: bytes) -> int:
    """Return the checksum of what changes in the row of a session."""
    return crc32(private, crc32(summary, 65_537 * len(summary) + 2 * number + is_active))


def names_sum(number: int, uri: str, name: str, owner: str) -> int:
    """Return the checksum of what stays in the row of a session."""
    return crc32(_bytes(f"{number}\0{uri}\0{name}\0{owner}"))


def content_sum(content_id: str, content_type: str, data: bytes) -> int:
    """Return the checksum of a content. Its session is not part of it: a fork gets copies."""
    return crc32(data, crc32(_bytes(f"{content_id}\0{content_type}")))


def numbers_sum(*numbers: int) -> int:
    """Return the checksum of two or of five numbers."""
    return crc32(_two(*numbers) if len(numbers) == 2 else _five(*numbers))


def is_sound(checksum: object, function: object, *values: object) -> bool:
    """Tell whether a row is as it was written. Damage can give a value another type, too."""
    try:
        return bool(function(*values) == checksum)  # type: ignore[operator] # any of the above
    except (TypeError, ValueError, AttributeError, error):
        return False


def _bytes(text: str) -> bytes:
    # What is no UTF-8 any more is read in this way, see `reading`; so it is compared as it is on the disk.
    return text.encode("utf-8", "surrogateescape")
