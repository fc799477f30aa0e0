"""Cursors: opaque, checked, and the way through a list that does not move."""

import base64
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agenthost.errors import InvalidValue
from agenthost.host.storage.cursors import MAX_NUMBER, decode_cursor, encode_cursor
from hosting import new_session, run, started
from storing import row


def encoded(text: str) -> str:
    return base64.urlsafe_b64encode(text.encode()).rstrip(b"=").decode()


@given(st.integers(1, MAX_NUMBER))
def test_a_cursor_leads_back_to_its_row_and_fits_into_a_url(number: int) -> None:
    cursor = encode_cursor(row(number))
    assert decode_cursor(cursor) == number
    assert set(cursor) <= set("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_")


@pytest.mark.parametrize(
    "cursor",
    [
        "",
        "7",
        "=",
        "é",
        "\ud800",
        "A" * 100,
        encoded("[1,0]"),
        encoded("[1,-4]"),
        encoded("[1,4.0]"),
        encoded("[1,true]"),
        encoded("[true,4]"),
        encoded("[1, 4]"),
        encoded("[2,4]"),
        encoded("[1,4,5]"),
        encoded("[1,9223372036854775808]"),
        encoded('{"number":4}'),
        encoded("[1,4]") + "=",
        encoded("[1,4]") + "\n",
        encoded("[1,4]")[:-1],
    ],
)
def test_a_cursor_that_we_did_not_issue_is_refused(cursor: str) -> None:
    with pytest.raises(InvalidValue, match="cursor: expected a cursor that this host gave") as refused:
        decode_cursor(cursor)
    assert refused.value.path == "cursor"


@given(st.text() | st.binary().map(lambda data: base64.urlsafe_b64encode(data).decode()))
def test_any_text_is_a_cursor_or_is_refused(cursor: str) -> None:
    with suppress(InvalidValue):
        assert encode_cursor(row(decode_cursor(cursor))) == cursor


def test_a_list_is_read_to_its_end_while_sessions_come_and_go(tmp_path: Path) -> None:
    async def story() -> None:
        async with started(tmp_path) as host:
            for place in range(20):
                await new_session(host, f"demo:/{place}")
            seen: list[str] = []
            before: int | None = None
            while rows := await host.sessions.page(owner=None, before=before, limit=3):
                seen += [found.uri for found in rows]
                before = decode_cursor(encode_cursor(rows[-1]))
                await new_session(host, f"demo:/new-{len(seen)}")
                await host.removals.remove(seen[-1])
            assert seen == [f"demo:/{place}" for place in reversed(range(20))]

    run(story)
