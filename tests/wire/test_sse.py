"""Server-sent events, by the rules of the WHATWG standard."""

import re
from itertools import pairwise
from time import perf_counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agenthost.errors import HostError, TooLarge
from agenthost.wire.sse import SseDecoder, SseEvent, encode_comment, encode_event


def decode(*chunks: bytes) -> list[SseEvent]:
    decoder = SseDecoder()
    return [event for chunk in chunks for event in decoder.feed(chunk)]


def cut(stream: bytes, places: list[int]) -> list[bytes]:
    edges = [0, *sorted(place % (len(stream) + 1) for place in places), len(stream)]
    return [stream[start:end] for start, end in pairwise(edges)]


# Pieces that mean something to a decoder, so that random streams are not just noise.
_fields = [b"data", b"data:", b"data: ", b"event: ", b"id: ", b"id", b"retry: 7", b":", b" ", b"x", b"\0"]
_ends = [b"\n", b"\r", b"\r\n", b"\n\n", b"\r\ndata: ", b"\r\n\r\n"]
_bytes = [b"\xef\xbb\xbf", b"\xe2\x82\xac", b"\xf0\x9f\x98\x80", b"\xe2\x82", b"\xff"]
_pieces = st.sampled_from([*_fields, *_ends, *_bytes])
_streams = st.lists(_pieces, max_size=40).map(b"".join) | st.binary(max_size=60)
_places = st.lists(st.integers(min_value=0, max_value=1000), max_size=8)
_names = st.text(min_size=1, max_size=8).filter(lambda name: not re.search("[\r\n]", name))


@given(stream=_streams, places=_places)
def test_any_chunking_decodes_to_the_same_events(stream: bytes, places: list[int]) -> None:
    whole, pieces, single = SseDecoder(), SseDecoder(), SseDecoder()
    expected = whole.feed(stream)
    assert [event for chunk in cut(stream, places) for event in pieces.feed(chunk)] == expected
    assert [event for byte in stream for event in single.feed(bytes([byte]))] == expected
    for decoder in (pieces, single):
        assert (decoder.last_event_id, decoder.retry) == (whole.last_event_id, whole.retry)


@given(_streams)
def test_decoding_agrees_with_the_standard_read_word_for_word(stream: bytes) -> None:
    assert decode(stream) == by_the_book(stream.decode("utf-8", "replace"))


def by_the_book(text: str) -> list[SseEvent]:
    """Decode a whole stream in the plainest way: the standard's steps on decoded text, one after another."""
    lines = re.split("\r\n|\r|\n", text.removeprefix("\ufeff"))[:-1]
    events, data, name, last_id = [], "", "", ""
    for line in lines:
        field, colon, value = line.partition(":")
        value = value.removeprefix(" ")
        if not line:
            if data:
                events.append(SseEvent(name or "message", data[:-1], last_id))
            data, name = "", ""
        elif colon and not field:
            continue
        elif field == "data":
            data += value + "\n"
        elif field == "event":
            name = value
        elif field == "id" and "\0" not in value:
            last_id = value
    return events


@given(name=_names, data=st.text(max_size=40))
def test_an_encoded_event_decodes_to_itself_with_every_line_end_as_lf(name: str, data: str) -> None:
    expected = re.sub("\r\n|\r", "\n", data)
    assert decode(encode_event(name, data.encode())) == [SseEvent(name, expected)]


def test_an_event_is_its_name_its_data_and_a_blank_line() -> None:
    assert encode_event("text", b'{"text":"hi"}') == b'event: text\ndata: {"text":"hi"}\n\n'


def test_data_of_several_lines_has_a_field_for_each() -> None:
    assert encode_event("x", b"a\nb\r\nc\rd") == b"event: x\ndata: a\ndata: b\ndata: c\ndata: d\n\n"


@pytest.mark.parametrize("name", ["a\nb", "a\rb", "\n"])
def test_a_name_cannot_inject_fields(name: str) -> None:
    with pytest.raises(ValueError, match="must be one line"):
        encode_event(name, b"")


@given(st.text(max_size=20))
def test_a_comment_is_not_an_event_whatever_it_says(text: str) -> None:
    assert decode(encode_comment(text) + b"data: after\n\n") == [SseEvent("message", "after")]


@pytest.mark.parametrize("end", [b"\n", b"\r", b"\r\n"])
def test_lines_end_with_lf_cr_or_both(end: bytes) -> None:
    stream = end.join([b"event: a", b"data: 1", b"", b"data: 2", b"", b""])
    assert decode(stream) == [SseEvent("a", "1"), SseEvent("message", "2")]


def test_a_cr_ends_an_event_without_waiting_for_what_follows() -> None:
    decoder = SseDecoder()
    assert decoder.feed(b"data: 1\r\r") == [SseEvent("message", "1")]
    assert decoder.feed(b"\ndata: 2\n\n") == [SseEvent("message", "2")]


def test_the_halves_of_a_crlf_end_one_line_even_with_an_empty_chunk_between_them() -> None:
    decoder = SseDecoder()
    assert decoder.feed(b"data: 1\r") == []
    assert decoder.feed(b"") == []
    assert decoder.feed(b"\n") == []
    assert decoder.feed(b"\n") == [SseEvent("message", "1")]


@pytest.mark.parametrize(
    ("stream", "data"),
    [
        (b"data: a\ndata: b\n\n", "a\nb"),
        (b"data:  two spaces\n\n", " two spaces"),
        (b"data:tight\n\n", "tight"),
        (b"data: a:b\n\n", "a:b"),
        (b"data\n\n", ""),
        (b"data\ndata\n\n", "\n"),
        (b"\xef\xbb\xbfdata: marked\n\n", "marked"),
        (b": hello\ndata: x\n\n", "x"),
        (b"Data: no\nfoo: no\ndata : no\ndata: yes\n\n", "yes"),
        (b"data: \xff\xe2\x82|\n\n", "\ufffd\ufffd|"),
        (b"data: \xed\xa0\x80\n\n", "\ufffd\ufffd\ufffd"),
        (b"data: \xc2\x85\xe2\x80\xa8\x0b\x0c\n\n", "\x85\u2028\x0b\x0c"),
    ],
)
def test_data_is_read_as_the_standard_says(stream: bytes, data: str) -> None:
    assert decode(stream) == [SseEvent("message", data)]


@pytest.mark.parametrize(
    "stream",
    [
        b"event: a\n\n",
        b"id: 1\n\n",
        b"\n\n\n",
        b":\n\n",
        b"data: a",
        b"data: a\n",
        b"\xef\xbb\xbf\xef\xbb\xbfdata: a\n\n",
    ],
)
def test_without_data_or_a_blank_line_there_is_no_event(stream: bytes) -> None:
    assert decode(stream) == []


def test_the_name_of_an_event_without_data_does_not_stick_to_the_next() -> None:
    assert decode(b"event: a\n\ndata: 1\n\n") == [SseEvent("message", "1")]


def test_the_last_id_stays_until_another_comes() -> None:
    stream = b"id: 1\ndata: a\n\ndata: b\n\nid: 2\0\ndata: c\n\nid\ndata: d\n\n"
    assert [event.id for event in decode(stream)] == ["1", "1", "1", ""]


def test_an_id_counts_once_its_event_is_complete() -> None:
    decoder = SseDecoder()
    decoder.feed(b"id: 7\n")
    assert decoder.last_event_id == ""
    decoder.feed(b"\n")
    assert decoder.last_event_id == "7"


@pytest.mark.parametrize(("value", "expected"), [(b"3000", 3000), (b"007", 7), (b"9" * 9000, None)])
@pytest.mark.parametrize("nonsense", [b"", b"1.5", b"-1", b"+1", "\u0663".encode()])
def test_retry_is_a_number_of_milliseconds_or_ignored(
    value: bytes, nonsense: bytes, expected: int | None
) -> None:
    decoder = SseDecoder()
    decoder.feed(b"retry: %b\nretry: %b\n" % (value, nonsense))
    assert decoder.retry == expected


@pytest.mark.parametrize(
    "stream",
    [
        b"data: " + b"x" * 100,
        b"data: xx\n" * 40,
        b": " + b"x" * 100,
        b"event: " + b"x" * 100,
        b"data\n" * 101,
    ],
)
@pytest.mark.parametrize("size", [1, 7, 10_000])
def test_an_event_past_the_limit_is_refused_however_it_comes(stream: bytes, size: int) -> None:
    decoder = SseDecoder(max_event_bytes=100)
    chunks = [stream[start : start + size] for start in range(0, len(stream), size)]
    with pytest.raises(TooLarge, match=r"^one server-sent event is larger than 100 bytes$") as caught:
        list(map(decoder.feed, chunks))
    assert isinstance(caught.value, HostError)
    assert caught.value.limit == 100


def test_the_limit_is_for_one_event_and_not_for_the_stream() -> None:
    decoder = SseDecoder(max_event_bytes=20)
    events = [event for _ in range(50) for event in decoder.feed(b"data: 0123456789\n: hi\n\n")]
    assert len(events) == 50


@pytest.mark.parametrize(("length", "size"), [(300_000, 1), (5_000_000, 1024), (15_000_000, 15_000_000)])
def test_a_long_line_arrives_whole_and_in_linear_time(length: int, size: int) -> None:
    stream = b"data: " + b"x" * length + b"\n\n"
    start = perf_counter()
    events = decode(*(stream[place : place + size] for place in range(0, len(stream), size)))
    # Quadratic would be minutes; this is room for a slow machine.
    assert perf_counter() - start < 10
    assert events == [SseEvent("message", "x" * length)]
