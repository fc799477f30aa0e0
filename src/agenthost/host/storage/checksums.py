"""Checksums: one per row, over its key and its values, so that damage on the disk is noticed.

CRC-32 detects every error burst of up to 32 bits, and all but one in four billion of other changes. It guards
against failing disks and memory, not against people: an attacker can write the checksum too.
The key is included, so a row in the place of another is detected as well. For rows that every turn writes,
the key is the start value of the CRC: packing it into bytes first is measurable. Knows no SQL.
"""

from struct import Struct, error
from zlib import crc32

__all__ = [
    "RowDamaged",
    "content_sum",
    "entry_sum",
    "former_entry_sum",
    "former_message_sum",
    "former_row_sum",
    "is_sound",
    "message_sum",
    "names_sum",
    "numbers_sum",
    "receipt_sum",
    "row_sum",
    "snapshot_sum",
]

_two = Struct("<qq").pack
_packers = {count: Struct(f"<{count}q").pack for count in (2, 3, 5, 7)}


class RowDamaged(Exception):
    """A row is not what was written. The message says which one, for the log."""


def entry_sum(seq: int, resource: int, envelope: bytes, only_for: str | None = None) -> int:
    """Return the checksum of an entry of the log."""
    # `crc32` uses only the low 32 bits of its start value. `read_entries` checks the range of the number.
    start = seq + resource
    if only_for is not None:
        start = crc32(b"\0" + _bytes(only_for), start)
    return crc32(envelope, start)


def message_sum(number: int, position: int, body: bytes) -> int:
    """Return the checksum of a message of a transcript."""
    return crc32(body, 65_537 * number + position)


def snapshot_sum(number: int, state_seq: int, state: bytes) -> int:
    """Return the checksum of a snapshot and of the sequence number it goes up to."""
    return crc32(state, crc32(_two(number, state_seq)))


def row_sum(number: int, is_active: int, summary: bytes, private: bytes) -> int:
    """Return the checksum of the values that change in the row of a session."""
    return crc32(private, crc32(summary, 65_537 * len(summary) + 2 * number + is_active))


def names_sum(number: int, uri: str, name: str, owner: str, parent: int = 0) -> int:
    """Return the checksum of the values in the row of a session that say what it is."""
    of_chat = f"\0{parent}" if parent else ""
    return crc32(_bytes(f"{number}\0{uri}\0{name}\0{owner}{of_chat}"))


def content_sum(content_id: str, content_type: str, data: bytes) -> int:
    """Return the checksum of a content. Its session is not included, because forks get copies."""
    return crc32(data, crc32(_bytes(f"{content_id}\0{content_type}")))


def numbers_sum(*numbers: int) -> int:
    """Return the checksum of two, five or seven numbers."""
    return crc32(_packers[len(numbers)](*numbers))


def receipt_sum(identity: str, slot: int, client_seq: int, digest: bytes, seq: int | None) -> int:
    """Return the checksum of a receipt."""
    return crc32(digest, crc32(_bytes(f"{slot}\0{client_seq}\0{seq}\0{identity}")))


def former_entry_sum(seq: int, resource: int, envelope: bytes, only_for: str | None) -> int:
    """Return the checksum that an entry of the log had at first, which cost more."""
    start = crc32(_two(seq, resource))
    if only_for is not None:
        start = crc32(b"\0" + _bytes(only_for), start)
    return crc32(envelope, start)


def former_message_sum(number: int, position: int, body: bytes) -> int:
    """Return the checksum that a message of a transcript had at first."""
    return crc32(body, crc32(_two(number, position)))


def former_row_sum(number: int, is_active: int, summary: bytes, private: bytes) -> int:
    """Return the checksum that the row of a session had at first."""
    return crc32(private, crc32(summary, crc32(_packers[3](number, is_active, len(summary)))))


def is_sound(checksum: object, function: object, *values: object) -> bool:
    """Return whether a row is what was written. Damage can even change the type of a value."""
    try:
        return bool(function(*values) == checksum)  # type: ignore[operator] # any of the above
    except (TypeError, ValueError, AttributeError, KeyError, error):
        return False


def _bytes(text: str) -> bytes:
    # `reader.decode_text` reads damaged UTF-8 the same way, so the bytes compared are those on the disk.
    return text.encode("utf-8", "surrogateescape")
