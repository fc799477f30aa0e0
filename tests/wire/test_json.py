"""JSON as bytes: whatever comes in, a value or `NotJson` comes out."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agenthost.errors import NotJson
from agenthost.wire.json import (
    MAX_DEPTH,
    MAX_GIVEN_DEPTH,
    Json,
    JsonObject,
    check_density,
    check_depth,
    copy_json,
    decode_json,
    encode_json,
    is_same_json,
)
from strategies import share

TOO_DEEP = "nested deeper than 128 levels"
NOT_UTF8 = "not JSON: a string is not valid UTF-8"
TRUNCATED = "not JSON: Input data was truncated"
INVALID = "not JSON: JSON is malformed: invalid character (byte {})"
TRAILING = "not JSON: JSON is malformed: trailing characters (byte {})"

HOSTILE: list[tuple[str, bytes | str, str]] = [
    ("200,000 brackets", b"[" * 200_000, TOO_DEEP),
    ("200,000 closed brackets", b"[" * 200_000 + b"]" * 200_000, TOO_DEEP),
    ("200,000 objects", b'{"a":' * 200_000, TOO_DEEP),
    ("a float beyond range", b"1e999", "not JSON: Number out of range"),
    ("a float below range", b"-1e999", "not JSON: Number out of range"),
    ("an integer of 5,000 digits", b"1" * 5_000, "not JSON: Integer value out of range"),
    ("an integer of a million digits", b"1" * 1_000_000, "not JSON: Integer value out of range"),
    ("NaN", b"NaN", INVALID.format(0)),
    ("Infinity", b"Infinity", INVALID.format(0)),
    ("minus infinity", b"-Infinity", INVALID.format(1)),
    ("half a surrogate pair", rb'"\ud800"', TRUNCATED),
    (
        "half a surrogate pair, then text",
        rb'"\ud800 and more"',
        "not JSON: JSON is malformed: unexpected end of escaped utf-16 surrogate pair (byte 7)",
    ),
    (
        "a surrogate pair the wrong way round",
        rb'"\udc00\ud800"',
        "not JSON: JSON is malformed: invalid utf-16 surrogate pair (byte 7)",
    ),
    ("half a surrogate pair in a key", rb'{"\ud800":1}', TRUNCATED),
    ("a raw surrogate in bytes", b'"\xed\xa0\x80"', NOT_UTF8),
    ("a raw surrogate in text", '"\ud800"', NOT_UTF8),
    ("a byte that begins no character", b'"\xff"', NOT_UTF8),
    ("such a byte in a key", b'{"\xff":1}', NOT_UTF8),
    ("a character cut short", b'"\xe2\x82"', NOT_UTF8),
    ("a character longer than need be", b'"\xc0\x80"', NOT_UTF8),
    ("a character above all", b'"\xf4\x90\x80\x80"', NOT_UTF8),
    ("UTF-16", "{}".encode("utf-16"), INVALID.format(0)),
    ("an object cut short", b'{"a":[1,2', TRUNCATED),
    ("a string cut short", b'"abc', TRUNCATED),
    ("two values", b"{} {}", TRAILING.format(4)),
    ("a word after the value", b"1 x", TRAILING.format(3)),
    ("a NUL after the value", b"{}\x00", TRAILING.format(3)),
    ("nothing", b"", TRUNCATED),
    ("only spaces", b"  \n", TRUNCATED),
    ("a byte order mark", b"\xef\xbb\xbf{}", INVALID.format(0)),
    ("a byte order mark in text", "\ufeff{}", INVALID.format(0)),
    ("a NUL", b"\x00", INVALID.format(0)),
    ("a NUL in a string", b'"\x00"', INVALID.format(1)),
    ("a key without quotes", b"{a:1}", "not JSON: JSON is malformed: object keys must be strings (byte 1)"),
    ("a comma too many", b"[1,]", "not JSON: JSON is malformed: trailing comma in array (byte 3)"),
    ("a zero too many", b"01", "not JSON: JSON is malformed: invalid number (byte 1)"),
]


def everything() -> st.SearchStrategy[Json]:
    leaves = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False)
    return st.recursive(
        leaves | st.text(), lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner), max_leaves=10
    )


def nested(opening: bytes, closing: bytes, levels: int) -> bytes:
    return opening * levels + b"0" + closing * levels


@pytest.mark.parametrize(
    ("data", "sentence"), [(data, words) for _, data, words in HOSTILE], ids=[name for name, _, _ in HOSTILE]
)
def test_what_is_not_json_is_refused_with_a_sentence(data: bytes | str, sentence: str) -> None:
    with pytest.raises(NotJson) as refusal:
        decode_json(data)
    assert str(refusal.value) == sentence


@pytest.mark.parametrize(("opening", "closing"), [(b"[", b"]"), (b'{"a":', b"}"), (b'[{"":', b"}]")])
def test_values_may_nest_128_levels_and_no_deeper(opening: bytes, closing: bytes) -> None:
    step = len(closing)
    decode_json(nested(opening, closing, MAX_DEPTH // step))
    with pytest.raises(NotJson, match=TOO_DEEP):
        decode_json(b"[" + nested(opening, closing, MAX_DEPTH // step) + b"]")


def test_depth_counts_in_the_middle_of_a_large_value_too() -> None:
    around = b'{"many":[%s%s%s],"more":[[],{}]}'
    before, after = b'[0,{"a":[]}],' * 20_000, b",0" * 20_000
    decode_json(around % (before, nested(b"[", b"]", MAX_DEPTH - 2), after))
    with pytest.raises(NotJson, match=TOO_DEEP):
        decode_json(around % (before, nested(b"[", b"]", MAX_DEPTH - 1), after))


def test_brackets_inside_a_string_do_not_count_as_depth() -> None:
    assert decode_json(b'"' + b"[" * 1_000 + b'"') == "[" * 1_000


def test_the_deepest_value_can_be_written_again() -> None:
    data = nested(b'{"a":', b"}", MAX_DEPTH)
    assert encode_json(decode_json(data)) == data


def test_eight_megabytes_of_string_are_fine() -> None:
    text = "ä" * 4_000_000
    assert decode_json(encode_json([text])) == [text]


def test_a_million_items_are_fine() -> None:
    assert decode_json(b"[" + b"7," * 999_999 + b"7]") == [7] * 1_000_000


def test_integers_are_kept_to_the_last_digit() -> None:
    digits = b"-" + b"123456789" * 40
    assert decode_json(digits) == int(digits)
    assert encode_json(decode_json(digits)) == digits


@pytest.mark.parametrize(
    ("data", "value"),
    [
        (b"true", True),
        (b"1", 1),
        (b"1.0", 1.0),
        (b"-0.0", -0.0),
        (b"1e308", 1e308),
        (b" null\r\n\t", None),
        (rb'"\ud83d\ude00\u0000"', "😀\x00"),
        ('"ä"', "ä"),
        (b'{"a":1,"a":2}', {"a": 2}),
    ],
)
def test_json_values_become_python_values(data: bytes | str, value: Json) -> None:
    decoded = decode_json(data)
    assert (decoded, type(decoded), repr(decoded)) == (value, type(value), repr(value))


def test_json_is_written_compactly_and_as_utf8() -> None:
    value: JsonObject = {"b": [1, 1.5, None, True], "a": "ä\n😀"}
    assert encode_json(value) == '{"b":[1,1.5,null,true],"a":"ä\\n😀"}'.encode()


@given(everything())
@settings(max_examples=share(70))
def test_any_value_survives_being_written_and_read(value: Json) -> None:
    data = encode_json(value)
    # `repr` tells 1 from 1.0 and from True, and shows the order of keys.
    assert repr(decode_json(data)) == repr(decode_json(data.decode())) == repr(value)


@given(st.binary(max_size=300) | st.text(alphabet='[]{}",:\\ud8019eE.-+ntrufalsN\x00\ud800').map(str))
@settings(max_examples=share(300))
def test_random_input_gives_a_value_or_the_one_error(data: bytes | str) -> None:
    try:
        value = decode_json(data)
    except NotJson as refusal:
        assert str(refusal)  # noqa: PT017 # either outcome is fine, any other error is not
    else:
        encode_json(value)


@given(everything(), st.data())
@settings(max_examples=share(70))
def test_a_value_with_one_byte_changed_gives_a_value_or_the_one_error(
    value: Json, data: st.DataObject
) -> None:
    text = bytearray(encode_json(value))
    text[data.draw(st.integers(0, len(text) - 1))] = data.draw(st.integers(0, 255))
    try:
        encode_json(decode_json(bytes(text)))
    except NotJson as refusal:
        assert str(refusal)  # noqa: PT017 # either outcome is fine, any other error is not


DENSE = {
    "lists": b"[" + b"[]," * 100_000 + b"[]]",
    "objects": b"[" + b"{}," * 100_000 + b"{}]",
    "numbers": b"[" + b"1," * 100_000 + b"1]",
    "texts": b"[" + b'"",' * 300_000 + b'""]',
    "keys": b"{" + b",".join(b'"%d":0' % place for place in range(100_000)) + b"}",
    "numbers that take time": b"[" + b"1e-320," * 10_000 + b"1]",
    "long numbers": b"[" + (b"0." + b"0" * 1000 + b"1,") * 2_000 + b"1]",
    "behind a text that looks like its end": b'["\\\\\\"",' + b"[]," * 100_000 + b"[]]",
}


@pytest.mark.parametrize("kind", DENSE)
def test_a_message_of_too_many_values_is_refused_before_it_is_decoded(kind: str) -> None:
    for data in (DENSE[kind], DENSE[kind].decode()):
        with pytest.raises(NotJson, match="more than 50000 values"):
            check_density(data)


def test_texts_may_hold_as_many_commas_and_brackets_as_they_like() -> None:
    text = '[{,"\\\\' * 1_000_000
    check_density(encode_json({"text": text, "more": ["1e-320, " * 100_000]}))
    check_density(encode_json({"text": text}).decode())
    check_density(encode_json(list(range(49_000))))
    check_density("[" * 1000)


@given(everything())
def test_what_is_short_is_never_refused_for_its_values(value: Json) -> None:
    check_density(encode_json([value, "x" * 40_000]))


def stacked(levels: int) -> Json:
    value: Json = 1
    for level in range(levels):
        value = [value] if level % 2 else {"a": value}
    return value


def test_a_copy_is_equal_and_shares_nothing() -> None:
    value = {"a": [1, {"b": None}], "c": "x"}
    copy = copy_json(value)
    assert copy == value
    assert copy["a"] is not value["a"]
    assert copy_json((1, 2)) == [1, 2]  # as JSON has it


@pytest.mark.parametrize("levels", [MAX_GIVEN_DEPTH + 1, 100_000])
def test_a_value_that_nests_too_deep_is_neither_copied_nor_accepted(levels: int) -> None:
    deep = stacked(levels)
    for refuse in (copy_json, check_depth):
        with pytest.raises(NotJson, match=f"nested deeper than {MAX_GIVEN_DEPTH} levels"):
            refuse(deep)


def test_a_value_of_the_maximum_depth_is_copied_and_accepted() -> None:
    deep = stacked(MAX_GIVEN_DEPTH)
    check_depth(deep)
    assert copy_json(deep) == deep


def test_a_value_without_a_json_form_is_not_copied() -> None:
    with pytest.raises(TypeError):
        copy_json(object())


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        (1, 1.0, True),
        (1, True, False),
        ([{"a": 1}], [{"a": 1.0}], True),
        ([{"a": 1}], [{"a": True}], False),
        ({"a": None}, {}, False),
        ([1], [1, 1], False),
    ],
)
def test_values_are_compared_as_json_has_them(one: Json, other: Json, same: bool) -> None:
    assert is_same_json(one, other) is same
