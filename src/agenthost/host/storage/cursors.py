"""Cursors: where a page of the list of sessions ended, in a form that a client hands back as it is.

What is inside is no secret, only none of a client's business: so it can change, and says of which form it is.
A session's number never changes and newer ones are higher, so a list that is read page by page, newest first,
is the same list however many sessions are added or removed meanwhile.
"""

from base64 import urlsafe_b64decode, urlsafe_b64encode

from agenthost.errors import InvalidValue, NotJson
from agenthost.host.storage import SessionRow
from agenthost.wire.json import decode_json, encode_json

FORM = 1
LONGEST = 64
HIGHEST = 2**63 - 1


def cursor_of(row: SessionRow) -> str:
    """Give the cursor of the page that follows this row."""
    return _encoded(row.number)


def position_of(cursor: str) -> int:
    """Give the number that the page of this cursor is before.

    Raises:
        InvalidValue: it is none that we gave.
    """
    number = _decoded(cursor) if len(cursor) <= LONGEST else None
    # There is one way to write a cursor, so that what merely looks like one is refused as well.
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
        case [form, number] if form == FORM and type(number) is int and 0 < number <= HIGHEST:
            return number
    return None
