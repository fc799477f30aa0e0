"""Cursors: where a page of the list of sessions ended, as an opaque string that a client sends back.

The content is not secret, but clients must not depend on it: it names its own format so that it can change.
A session's number never changes and newer sessions have higher ones. So paging from newest to oldest is
stable, however many sessions are added or removed in between.
"""

from base64 import urlsafe_b64decode, urlsafe_b64encode

from agenthost.errors import InvalidValue, NotJson
from agenthost.host.storage import SessionRow
from agenthost.wire.json import decode_json, encode_json

FORM = 1
MAX_LENGTH = 64
MAX_NUMBER = 2**63 - 1


def encode_cursor(row: SessionRow) -> str:
    """Return the cursor of the page that follows this row."""
    return _encoded(row.number)


def decode_cursor(cursor: str) -> int:
    """Return the number below which the page of this cursor starts.

    Raises:
        InvalidValue: this host did not issue the cursor.
    """
    number = _decoded(cursor) if len(cursor) <= MAX_LENGTH else None
    # A cursor has exactly one spelling. Anything else that happens to decode is refused.
    if number is None or _encoded(number) != cursor:
        raise InvalidValue("cursor", "a cursor that this host gave with a page", "something else")
    return number


def _encoded(number: int) -> str:
    return urlsafe_b64encode(encode_json([FORM, number])).rstrip(b"=").decode()


def _decoded(cursor: str) -> int | None:
    try:
        parts = decode_json(urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)))
    except (NotJson, ValueError):
        return None
    match parts:
        case [form, number] if form == FORM and type(number) is int and 0 < number <= MAX_NUMBER:
            return number
    return None
