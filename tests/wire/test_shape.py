"""Shapes: which values fit, what is said of those that do not, and that nothing is lost on the way."""

from collections.abc import Callable
from copy import deepcopy
from typing import Annotated, Any, Literal, NotRequired, TypedDict

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agenthost.errors import InvalidValue, NotJson
from agenthost.wire.ahp.legacy.config import ConfigPropertySchema
from agenthost.wire.annotations import CLOSED, OPEN, ByKey, Tag, constants
from agenthost.wire.checks import PARTIAL
from agenthost.wire.error_messages import Mismatch
from agenthost.wire.json import MAX_DEPTH, Json, JsonObject, decode_json, encode_json
from agenthost.wire.shape import STRICT, TOLERANT, ReadMode, Shape
from strategies import json_values, share, values_of


class Cat(TypedDict):
    kind: Literal["cat"]
    name: str
    lives: NotRequired[int]


class Dog(TypedDict):
    kind: Literal["dog", "puppy"]
    tricks: list[str]


Pet = Annotated[Cat | Dog, Tag("kind")]
NoOtherPet = Annotated[Cat | Dog, Tag("kind", is_open=False)]
LonePet = Annotated[Cat, Tag("kind")]
Door = Annotated[Literal["open", "shut"], CLOSED]
Floor = Annotated[Literal[1, 2], CLOSED]
Roof = Annotated[Literal["flat"], OPEN]


class Yes(TypedDict):
    kind: Literal["vote"]
    choose_version: Literal[True]
    by: str


class No(TypedDict):
    kind: Literal["vote"]
    choose_version: Literal[False]


Vote = Annotated[Yes | No, Tag("choose_version")]
Thing = Annotated[Cat | Vote, Tag("kind")]


class Cup(TypedDict):
    cup: int


class Plate(TypedDict):
    plate: int


Dish = Annotated[Cup | Plate, ByKey((("cup", Cup), ("plate", Plate)))]
AnyDish = Annotated[Cup | Plate, ByKey((("cup", Cup), ("", Plate)))]


class Home(TypedDict):
    owner: str
    rooms: int
    price: float
    sold: bool
    note: Json
    agent: str | None
    pets: list[Pet]
    rent: NotRequired[dict[str, float]]
    colour: NotRequired[Literal["red", "blue"]]
    version: NotRequired[Literal[2]]
    motto: NotRequired[str | list[str]]
    annex: "NotRequired[Home]"
    free: NotRequired[Json]
    labels: NotRequired[JsonObject]
    heir: NotRequired[str | None]
    dish: NotRequired[Dish]
    nothing: NotRequired[None]


class Small(TypedDict):
    text: str
    size: NotRequired[int]


def home(**more: Json) -> JsonObject:
    base = {"owner": "Ada", "rooms": 3, "price": 1.5, "sold": False, "note": None, "agent": None, "pets": []}
    return {**base, **more}


def refusal(kind: Any, value: Json, mode: ReadMode = TOLERANT) -> str:
    with pytest.raises(InvalidValue) as refused:
        Shape[Any](kind, mode).take(value)
    error = refused.value
    assert str(error) == f"{error.path}: expected {error.expected}, found {error.found}"
    return str(error)


def is_taken(kind: Any, value: Json, mode: ReadMode = TOLERANT) -> bool:
    try:
        Shape[Any](kind, mode).take(value)
    except InvalidValue:
        return False
    return True


SENTENCES: list[tuple[Any, Json, str]] = [
    (str, 1, "$: expected a string, found the number 1"),
    (str, True, "$: expected a string, found true"),
    (str, None, "$: expected a string, found null"),
    (str, {}, "$: expected a string, found an object"),
    (bool, 0, "$: expected true or false, found the number 0"),
    (bool, "true", "$: expected true or false, found a string"),
    (int, 1.5, "$: expected a whole number of at most 64 bits, found the number 1.5"),
    (int, 1e300, "$: expected a whole number of at most 64 bits, found the number 1e+300"),
    (int, float("nan"), "$: expected a whole number of at most 64 bits, found the number nan"),
    (int, float("-inf"), "$: expected a whole number of at most 64 bits, found the number -inf"),
    (int | None, 0.5, "$: expected a whole number of at most 64 bits, found the number 0.5"),
    (int, False, "$: expected a whole number of at most 64 bits, found false"),
    (
        int,
        10**60,
        "$: expected a whole number of at most 64 bits, found the number " + "1" + "0" * 39,
    ),
    (float, "1", "$: expected a number, found a string"),
    (float, True, "$: expected a number, found true"),
    (type(None), 0, "$: expected null, found the number 0"),
    (list[int], {}, "$: expected a list, found an object"),
    (list[int], [1, [2]], "$[1]: expected a whole number of at most 64 bits, found a list"),
    (dict[str, int], [], "$: expected an object, found a list"),
    (dict[str, bool], {"a": True, "b": 1}, "$.b: expected true or false, found the number 1"),
    (dict[str, list[str]], {"a": ["x", None]}, "$.a[1]: expected a string, found null"),
    (Literal["on"], "off", "$: expected 'on', found 'off'"),
    (Literal["on"], None, "$: expected 'on', found null"),
    (Literal["on", "off"], 1, "$: expected 'on' or 'off', found the number 1"),
    (Literal[True], 1, "$: expected true, found the number 1"),
    (Literal[1], True, "$: expected the number 1, found true"),
    (Literal[1], 1.5, "$: expected the number 1, found the number 1.5"),
    (str | None, 1, "$: expected a string or null, found the number 1"),
    (str | list[int], ["x"], "$[0]: expected a whole number of at most 64 bits, found a string"),
    (float | Cup, "x", "$: expected a number or an object, found a string"),
    (Cat, [], "$: expected an object (Cat), found a list"),
    (Cat, {"kind": "cat"}, "$.name: expected a string, found nothing"),
    (Cat, {"kind": "cat", "name": None}, "$.name: expected a string, found null"),
    (Cat, {"name": "Tom"}, "$.kind: expected 'cat', found nothing"),
    (Cat, {"kind": "dog", "name": "Tom"}, "$.kind: expected 'cat', found 'dog'"),
    (
        Cat,
        {"kind": "cat", "name": "Tom", "lives": "9"},
        "$.lives: expected a whole number of at most 64 bits, found a string",
    ),
    (Pet, "cat", "$: expected an object, found a string"),
    (Pet, {}, "$.kind: expected a string, found nothing"),
    (Pet, {"kind": None}, "$.kind: expected a string, found null"),
    (Pet, {"kind": ["cat"]}, "$.kind: expected a string, found a list"),
    (Pet, {"kind": "cat"}, "$.name: expected a string, found nothing"),
    (Pet, {"kind": "puppy"}, "$.tricks: expected a list, found nothing"),
    (Thing, {"kind": "vote"}, "$.choose_version: expected true or false, found nothing"),
    (
        Thing,
        {"kind": "vote", "choose_version": 1, "by": "x"},
        "$.choose_version: expected true or false, found the number 1",
    ),
    (
        Thing,
        {"kind": "vote", "choose_version": 0},
        "$.choose_version: expected true or false, found the number 0",
    ),
    (Thing, {"kind": "vote", "choose_version": True}, "$.by: expected a string, found nothing"),
    (Dish, 1, "$: expected an object, found the number 1"),
    (Dish, {"cup": "x"}, "$.cup: expected a whole number of at most 64 bits, found a string"),
    (Dish, {"plate": None}, "$.plate: expected a whole number of at most 64 bits, found null"),
    (Dish, {"spoon": 1}, "$: expected an object with 'cup' or 'plate', found none of them"),
    (AnyDish, {"spoon": 1}, "$.plate: expected a whole number of at most 64 bits, found nothing"),
    (Home, home(pets=[{"kind": "cat", "name": 1}]), "$.pets[0].name: expected a string, found the number 1"),
    (
        Home,
        home(annex=home(annex=home(rooms="3"))),
        "$.annex.annex.rooms: expected a whole number of at most 64 bits, found a string",
    ),
    (Home, home(rent={"may": "x"}), "$.rent.may: expected a number, found a string"),
    (Home, home(version=3), "$.version: expected the number 2, found the number 3"),
    (Home, home(motto=1), "$.motto: expected a string or a list, found the number 1"),
    (Home, home(dish={}), "$.dish: expected an object with 'cup' or 'plate', found none of them"),
    (Home, home(nothing=1), "$.nothing: expected null, found the number 1"),
    (list[Any], None, "$: expected a list, found null"),
    (NoOtherPet, {"kind": "fish"}, "$.kind: expected 'cat' or 'dog' or 'puppy', found 'fish'"),
    (NoOtherPet, {"kind": "cat"}, "$.name: expected a string, found nothing"),
    (LonePet, {"kind": "cat"}, "$.name: expected a string, found nothing"),
    (Door, "ajar", "$: expected 'open' or 'shut', found 'ajar'"),
    (Door, None, "$: expected 'open' or 'shut', found null"),
    (Floor, 3, "$: expected the number 1 or the number 2, found the number 3"),
    (Roof, 1, "$: expected 'flat', found the number 1"),
]


@pytest.mark.parametrize(("kind", "value", "sentence"), SENTENCES)
def test_a_value_that_does_not_fit_is_named_with_its_path(kind: Any, value: Json, sentence: str) -> None:
    assert refusal(kind, value) == sentence


@pytest.mark.parametrize(("kind", "value", "sentence"), SENTENCES)
def test_what_does_not_fit_tolerantly_does_not_fit_strictly(kind: Any, value: Json, sentence: str) -> None:
    assert not is_taken(kind, value, STRICT), sentence


STRICTLY: list[tuple[Any, Json, str]] = [
    (Literal["on", "off"], "dim", "$: expected 'on' or 'off', found 'dim'"),
    (Pet, {"kind": "fish"}, "$.kind: expected 'cat' or 'dog' or 'puppy', found 'fish'"),
    (Pet, {}, "$.kind: expected 'cat' or 'dog' or 'puppy', found nothing"),
    (Thing, {"kind": "vow"}, "$.kind: expected 'cat' or 'vote', found 'vow'"),
    (Home, home(colour="green"), "$.colour: expected 'red' or 'blue', found 'green'"),
    (Home, home(pets=[{"kind": "fish"}]), "$.pets[0].kind: expected 'cat' or 'dog' or 'puppy', found 'fish'"),
    (Small, {"text": "", "size": None}, "$.size: expected a whole number of at most 64 bits, found null"),
    (Home, home(annex=None), "$.annex: expected an object (Home), found null"),
    (Home, home(labels=None), "$.labels: expected an object, found null"),
    (LonePet, {"kind": "dog", "tricks": []}, "$.kind: expected 'cat', found 'dog'"),
    (Roof, "round", "$: expected 'flat', found 'round'"),
]


@pytest.mark.parametrize(("kind", "value", "sentence"), STRICTLY)
def test_a_strict_reader_refuses_what_it_would_not_understand(kind: Any, value: Json, sentence: str) -> None:
    assert refusal(kind, value, STRICT) == sentence


@pytest.mark.parametrize(
    ("kind", "value"),
    [
        (Literal["on", "off"], "dim"),
        (Pet, {"kind": "fish", "fins": 2, "name": None}),
        (Thing, {"kind": "vow"}),
        (Home, home(colour="green")),
        (Home, home(pets=[{"kind": "fish", "name": None}])),
        (LonePet, {"kind": "dog", "name": None}),
        (Roof, "round"),
    ],
)
def test_a_tolerant_reader_keeps_variants_and_constants_it_does_not_know(kind: Any, value: Json) -> None:
    before = deepcopy(value)
    assert Shape[Any](kind).take(value) == before


@pytest.mark.parametrize(
    ("kind", "values"), [(Door, ("open", "shut")), (Roof, ("flat",)), (Literal[1, 2], (1, 2)), (str, ())]
)
def test_constants_are_known_whether_they_are_marked_or_not(kind: Any, values: tuple[Json, ...]) -> None:
    assert constants(kind) == values
    assert all(is_taken(kind, value, STRICT) for value in values)


@pytest.mark.parametrize("mode", [TOLERANT, STRICT, PARTIAL])
@pytest.mark.parametrize(
    "value",
    [
        home(),
        home(nope=1, pets=[{"kind": "cat", "name": "Tom", "x-tail": None}, {"kind": "puppy", "tricks": []}]),
        home(colour="red", version=2, rent={"may": 1, "june": 1.5}, motto=["a"], heir=None, nothing=None),
        home(
            free=None, labels={"a": None}, annex=home(free={"any": [None]}), dish={"plate": 1, "soup": None}
        ),
    ],
)
def test_what_fits_is_kept_as_it_is_with_unknown_keys_and_free_nulls(value: Json, mode: ReadMode) -> None:
    before = deepcopy(value)
    assert Shape[Json](Home, mode).take(value) is value
    assert repr(value) == repr(before)


def test_a_null_under_an_optional_key_is_removed() -> None:
    value = home(rent=None, colour=None, annex=home(dish=None, motto=None), labels=None)
    assert Shape[Any](Home).take(value) == home(annex=home())


@pytest.mark.parametrize("key", ["free", "heir", "nothing"])
def test_a_null_stays_under_an_optional_key_that_may_be_null(key: str) -> None:
    assert Shape[Any](Home).take(home(**{key: None})) == home(**{key: None})


@pytest.mark.parametrize("mode", [TOLERANT, STRICT])
@pytest.mark.parametrize("key", ["owner", "rooms", "price", "sold", "pets"])
def test_a_null_under_a_required_key_is_refused(key: str, mode: ReadMode) -> None:
    sentence = refusal(Home, home(**{key: None}), mode)
    assert sentence.startswith(f"$.{key}: ")
    assert sentence.endswith(", found null")


@pytest.mark.parametrize("mode", [TOLERANT, STRICT])
@pytest.mark.parametrize("key", sorted(home()))
def test_a_required_key_must_be_present_even_where_null_is_allowed(key: str, mode: ReadMode) -> None:
    value = home()
    del value[key]
    sentence = refusal(Home, value, mode)
    assert sentence.startswith(f"$.{key}: ")
    assert sentence.endswith(", found nothing")


def test_an_absent_key_stays_absent() -> None:
    assert sorted(Shape[Any](Home).take(home())) == sorted(home())


@pytest.mark.parametrize(
    ("kind", "fits", "does_not"),
    [
        (int, 1, True),
        (bool, True, 1),
        (float, 1, True),
        (Literal[1], 1, True),
        (Literal[True], True, 1),
        (Literal[0, 1], 0, False),
        (Literal[True, False], False, 0),
        (int | None, 0, False),
        (bool | None, False, 0),
        (Vote, {"kind": "vote", "choose_version": False}, {"kind": "vote", "choose_version": 0}),
    ],
)
@pytest.mark.parametrize("mode", [TOLERANT, STRICT, PARTIAL])
def test_true_is_not_one_and_one_is_not_true(kind: Any, fits: Json, does_not: Json, mode: ReadMode) -> None:
    assert is_taken(kind, fits, mode)
    assert not is_taken(kind, does_not, mode)


@pytest.mark.parametrize("whole", [0, 2**63 - 1, -(2**63)])
def test_whole_numbers_have_64_bits(whole: int) -> None:
    assert Shape[int](int).take(whole) == whole


@pytest.mark.parametrize(
    ("kind", "text", "whole"),
    [
        (int, "80.0", 80),
        (int, "1e2", 100),
        (int, "-0.0", 0),
        (int, "-9223372036854775808.0", -(2**63)),
        (int | None, "2.0", 2),
        (Literal[2], "2.0", 2),
        (Floor, "2.0", 2),
        (list[int], "[1, 2.0, 3e0]", [1, 2, 3]),
        (dict[str, int], '{"a": 1.0}', {"a": 1}),
        (Cup, '{"cup": 1e1}', {"cup": 10}),
        (Small, '{"text": "", "size": 8e1}', {"text": "", "size": 80}),
    ],
)
@pytest.mark.parametrize("mode", [TOLERANT, STRICT, PARTIAL])
def test_a_whole_number_may_be_written_as_a_float(kind: Any, text: str, whole: Json, mode: ReadMode) -> None:
    # The text tells 80 from 80.0, which are equal.
    assert encode_json(Shape[Any](kind, mode).decode(text)) == encode_json(whole)


def test_a_number_of_any_kind_stays_as_it_was_written() -> None:
    assert encode_json(Shape[Any](dict[str, float]).decode('{"a": 1.0, "b": 1}')) == b'{"a":1.0,"b":1}'


@pytest.mark.parametrize("whole", [2**63, -(2**63) - 1, 10**400])
def test_larger_whole_numbers_fit_only_where_any_number_does(whole: int) -> None:
    assert not is_taken(int, whole)
    assert is_taken(float, whole)
    assert is_taken(Any, whole)


@pytest.mark.parametrize(
    ("kind", "value"),
    [
        (Home, {}),
        (Home, {"pets": [{"kind": "cat"}, {}, {"kind": "fish"}], "annex": {"rooms": 1}, "x": None}),
        (Pet, {"name": 1}),
        (Thing, {"kind": "vote"}),
        (Dish, {}),
    ],
)
def test_a_partial_reader_checks_only_the_keys_that_are_present(kind: Any, value: Json) -> None:
    before = deepcopy(value)
    assert Shape[Any](kind, PARTIAL).take(value) == before


@pytest.mark.parametrize(
    ("kind", "value", "sentence"),
    [
        (Home, [], "$: expected an object (Home), found a list"),
        (Home, {"owner": 1}, "$.owner: expected a string, found the number 1"),
        (
            Home,
            {"pets": [{"kind": "cat", "name": 1}]},
            "$.pets[0].name: expected a string, found the number 1",
        ),
        (Pet, {"kind": 1}, "$.kind: expected a string, found the number 1"),
        (Dish, {"cup": "x"}, "$.cup: expected a whole number of at most 64 bits, found a string"),
    ],
)
def test_a_partial_reader_refuses_what_is_there_and_wrong(kind: Any, value: Json, sentence: str) -> None:
    assert refusal(kind, value, PARTIAL) == sentence


@pytest.mark.parametrize(
    ("key", "step"),
    [
        ("plain", ".plain"),
        ("größe_2", ".größe_2"),
        ("", "['']"),
        ("2", "['2']"),
        ("a.b", "['a.b']"),
        ("a b", "['a b']"),
        ("it's", '["it\'s"]'),
        ("file:///etc", "['file:///etc']"),
        ("a\nERROR\x1b[0m\x00", r"['a\nERROR\x1b[0m\x00']"),
        ("k" * 40, "." + "k" * 40),
        ("k" * 1_000_000, "['" + "k" * 40 + "'…]"),
    ],
)
def test_a_path_is_one_short_line_whatever_the_keys_are(key: str, step: str) -> None:
    with pytest.raises(InvalidValue) as refused:
        Shape[Any](dict[str, list[str]]).take({key: [1]})
    assert refused.value.path == f"${step}[0]"


def test_a_path_begins_where_the_caller_says() -> None:
    with pytest.raises(InvalidValue) as refused:
        Shape[Any](Small).take({"text": 1}, at="$.params.action")
    assert refused.value.path == "$.params.action.text"


def test_no_more_than_the_beginning_of_a_text_is_repeated_in_an_error() -> None:
    assert refusal(Literal["on"], "secret" * 100) == f"$: expected 'on', found '{'secret' * 6}secr'…"
    assert refusal(int, "secret") == "$: expected a whole number of at most 64 bits, found a string"


def test_decoding_tells_text_that_is_not_json_from_a_value_that_does_not_fit() -> None:
    shape: Shape[Small] = Shape(Small)
    assert shape.decode(b'{"text":"a","size":null,"x":1}') == {"text": "a", "x": 1}
    assert shape.decode('{"text":"a"}') == {"text": "a"}
    with pytest.raises(NotJson):
        shape.decode(b'{"text":')
    with pytest.raises(InvalidValue):
        shape.decode(b"[]")


def test_the_check_itself_raises_the_mismatch() -> None:
    with pytest.raises(Mismatch):
        Shape[Small](Small).check({})


def below(frames: int, call: Callable[[], object]) -> object:
    """Call from deeper in the stack, as a busy program would."""
    return call() if frames == 0 else below(frames - 1, call)


@pytest.mark.parametrize(
    ("opening", "closing"),
    [('{"type":"array","title":"","items":', "}"), ('{"type":"object","title":"","properties":{"a":', "}}")],
)
def test_a_recursive_type_is_checked_at_any_depth_that_json_allows(opening: str, closing: str) -> None:
    levels = (MAX_DEPTH - 1) // len(closing)
    shape: Shape[ConfigPropertySchema] = Shape(ConfigPropertySchema)
    good = decode_json(opening * levels + '{"type":"string","title":""}' + closing * levels)
    bad = decode_json(opening * levels + '{"type":"string","title":0}' + closing * levels)
    assert below(400, lambda: shape.take(good)) is good
    with pytest.raises(InvalidValue) as refused:
        below(400, lambda: shape.take(bad))
    step = ".items" if closing == "}" else ".properties.a"
    assert refused.value.path == "$" + step * levels + ".title"


KINDS = [
    Cat,
    Pet,
    Thing,
    Dish,
    AnyDish,
    Home,
    list[Pet],
    dict[str, Vote],
    str | list[Cup],
    Literal["a", "b"],
    NoOtherPet,
    LonePet,
    Door,
    Floor,
    Roof,
]


@pytest.mark.parametrize("kind", KINDS)
@given(data=st.data())
@settings(max_examples=share(12))
def test_any_value_of_a_type_fits_it_and_is_not_changed(kind: Any, data: st.DataObject) -> None:
    value = data.draw(values_of(kind, unknown_keys=True))
    before = repr(value)
    for mode in (TOLERANT, STRICT, PARTIAL):
        assert Shape[Any](kind, mode).take(value) is value
        assert repr(value) == before


@pytest.mark.parametrize("kind", KINDS)
@given(data=st.data())
@settings(max_examples=share(12))
def test_any_part_of_a_value_fits_partially(kind: Any, data: st.DataObject) -> None:
    value = data.draw(values_of(kind, partial=True))
    assert repr(Shape[Any](kind, PARTIAL).decode(encode_json(value))) == repr(value)


@given(st.sampled_from(KINDS), json_values)
@settings(max_examples=share(150))
def test_any_other_value_is_accepted_or_refused_and_nothing_else_happens(kind: Any, value: Json) -> None:
    if is_taken(kind, deepcopy(value), STRICT):
        assert is_taken(kind, deepcopy(value), TOLERANT)
    if is_taken(kind, deepcopy(value), TOLERANT):
        assert is_taken(kind, deepcopy(value), PARTIAL)


def test_a_union_whose_members_cannot_be_told_apart_is_refused_when_it_is_compiled() -> None:
    with pytest.raises(TypeError, match="mark the union with Tag"):
        Shape(list[str] | list[int]).decode(b"[]")
