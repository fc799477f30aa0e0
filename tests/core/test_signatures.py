"""Signatures: the schema of a function's input, and arguments that fit it or do not."""

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from enum import Enum
from typing import Annotated, Any, Literal, NotRequired, TypedDict

import jsonschema
import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from agenthost.core.signatures import read_signature
from agenthost.errors import InvalidValue
from agenthost.wire.json import Json, JsonObject


class Color(Enum):
    RED = "red"
    BLUE = "blue"


class Place(TypedDict):
    city: str
    country: NotRequired[str]


@dataclass
class Size:
    width: int
    tags: list[str] = field(default_factory=list)


class Circle(msgspec.Struct, tag="circle"):
    radius: float


class Square(msgspec.Struct, tag="square"):
    side: Annotated[int, msgspec.Meta(ge=1)]


class Context:
    pass


def plain(text: str, count: int, share: float, *, loud: bool = False) -> None: ...
def holders(names: list[str], sizes: dict[str, int], pairs: list[list[float]]) -> None: ...
def choices(mode: Literal["fast", "slow", 3], color: Color = Color.RED, end: int | None = None) -> None: ...
def records(place: Place, size: Size | None = None) -> None: ...
def shapes(shape: Circle | Square) -> None: ...
def limits(few: Annotated[list[bool], msgspec.Meta(max_length=2)], word: str | int | None) -> None: ...
def anything(value: Any, more: dict[str, Any] | None = None) -> None: ...
def nothing() -> None: ...


FUNCTIONS: list[Callable[..., None]] = [
    plain,
    holders,
    choices,
    records,
    shapes,
    limits,
    anything,
    nothing,
]


def test_a_schema_says_types_defaults_and_what_is_required() -> None:
    assert read_signature(plain).schema == {
        "type": "object",
        "properties": {
            "text": {"type": "string"},
            "count": {"type": "integer"},
            "share": {"type": "number"},
            "loud": {"type": "boolean", "default": False},
        },
        "required": ["text", "count", "share"],
        "additionalProperties": False,
    }


def test_a_function_without_parameters_takes_an_empty_object() -> None:
    assert read_signature(nothing).schema == {
        "type": "object",
        "properties": {},
        "additionalProperties": False,
    }


def test_named_types_are_defined_once_beside_the_properties() -> None:
    schema = read_signature(records).schema
    assert set(schema["$defs"]) == {"Place", "Size"}
    assert schema["properties"]["place"] == {"$ref": "#/$defs/Place"}
    assert schema["required"] == ["place"]


def test_descriptions_come_from_the_annotation_or_else_from_the_docstring() -> None:
    def weather(  # noqa: D417 # not all are described, on purpose
        city: Annotated[str, "where"],
        days: Annotated[int, msgspec.Meta(ge=1, description="how many")],
        unit: str = "C",
        plain: str = "",
    ) -> None:
        """Look up the weather.

        Args:
            city: not this
            unit: of temperature
        """

    properties = read_signature(weather).schema["properties"]
    assert properties["city"] == {"type": "string", "description": "where"}
    assert properties["days"] == {"type": "integer", "minimum": 1, "description": "how many"}
    assert properties["unit"] == {"type": "string", "default": "C", "description": "of temperature"}
    assert "description" not in properties["plain"]


def test_a_default_without_json_stays_out_of_the_schema() -> None:
    def odd(value: Any = object) -> None: ...

    assert read_signature(odd).schema["properties"] == {"value": {}}


def test_the_context_is_no_part_of_the_input() -> None:
    def told(context: Context, text: str) -> None: ...

    signature = read_signature(told, Context)
    assert signature.context == "context"
    assert list(signature.schema["properties"]) == ["text"]


def test_arguments_become_what_the_function_is_annotated_with() -> None:
    read = read_signature(records).read({"place": {"city": "Rome"}, "size": {"width": 2.0}})
    assert read == {"place": {"city": "Rome"}, "size": Size(2)}
    assert read_signature(choices).read({"mode": "fast", "color": "blue"})["color"] is Color.BLUE


@pytest.mark.parametrize(
    ("function", "arguments", "words"),
    [
        (plain, [], "$: expected an object, found a list"),
        (plain, {}, "$.text: expected a string, found nothing"),
        (plain, {"text": "", "count": 1, "share": "x"}, "$.share: expected a number, found a string"),
        (
            plain,
            {"text": "", "count": 1.5, "share": 1},
            "$.count: expected a whole number, found the number 1.5",
        ),
        (plain, {"text": "", "count": True, "share": 1}, "$.count: expected a whole number, found true"),
        (plain, {"text": b"", "count": 1, "share": 1}, "$.text: expected a string, found a Python bytes"),
        (nothing, {"x": 1}, "$: expected an empty object, found 'x'"),
        (anything, {"x": 1}, "$.value: expected a value, found nothing"),
        (
            anything,
            {"value": 1, "a b": 1},
            "$: expected nothing but 'value', 'more', found 'a b'",
        ),
        (
            holders,
            {"names": [], "sizes": {"a b": "x"}, "pairs": []},
            "$.sizes['a b']: expected a whole number, found a string",
        ),
        (
            holders,
            {"names": [], "sizes": {}, "pairs": [[1], [None]]},
            "$.pairs[1][0]: expected a number, found null",
        ),
        (choices, {"mode": "quick"}, "$.mode: expected the number 3 or 'fast' or 'slow', found 'quick'"),
        (choices, {"mode": 3, "end": ""}, "$.end: expected a whole number or null, found a string"),
        (records, {"place": {}}, "$.place.city: expected a string, found nothing"),
        (
            records,
            {"place": {"city": ""}, "size": {"width": ""}},
            "$.size.width: expected a whole number, found a string",
        ),
        (shapes, {"shape": {}}, "$.shape.type: expected 'circle' or 'square', found nothing"),
        (shapes, {"shape": {"type": "x"}}, "$.shape.type: expected 'circle' or 'square', found 'x'"),
        (
            shapes,
            {"shape": {"type": "square", "side": 0}},
            "$.shape.side: expected a number of at least 1, found the number 0",
        ),
        (limits, {"few": [True] * 3, "word": 1}, "$.few: expected a list of at most 2 items, found 3"),
    ],
)
def test_a_refusal_names_the_place_what_was_expected_and_what_was_found(
    function: Callable[..., None], arguments: Json, words: str
) -> None:
    with pytest.raises(InvalidValue) as refused:
        read_signature(function).read(arguments)
    assert str(refused.value) == words


def test_what_only_msgspec_understands_is_refused_in_its_words() -> None:
    def dialled(number: Annotated[str, msgspec.Meta(pattern="^[0-9]+$")]) -> None: ...

    with pytest.raises(InvalidValue, match="matching regex") as refused:
        read_signature(dialled).read({"number": "x"})
    assert refused.value.path == "$.number"


def _positional(a: int, /) -> None: ...
def _many(*a: int) -> None: ...
def _named(**a: int) -> None: ...
def _bare(a) -> None: ...  # type: ignore[no-untyped-def] # noqa: ANN001
def _complex(b: int, a: complex) -> None: ...
def _mixed(b: int, a: Circle | dict[str, int]) -> None: ...


@pytest.mark.parametrize("function", [_positional, _many, _named, _bare, _complex, _mixed])
def test_a_parameter_that_no_json_can_fill_is_refused_by_name(function: Callable[..., None]) -> None:
    with pytest.raises(TypeError, match=f"{function.__name__}: the parameter 'a'"):
        read_signature(function)


def test_an_annotation_that_cannot_be_found_is_refused_by_name() -> None:
    def lost(a: "Nowhere") -> None: ...  # type: ignore[name-defined] # noqa: F821

    with pytest.raises(TypeError, match="'Nowhere' is not defined"):
        read_signature(lost)


_scalars = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-3, 3),
    st.sampled_from([0.5, 1.0, 3.0, -2.0, math.pi]),
    st.sampled_from(["", "x", "red", "blue", "fast", "circle", "square"]),
)
_keys = st.sampled_from(["city", "country", "width", "tags", "type", "radius", "side", "x"])
_values = st.recursive(
    _scalars,
    lambda inside: st.lists(inside, max_size=3) | st.dictionaries(_keys, inside, max_size=3),
    max_leaves=6,
)


def _near(schema: JsonObject, defs: JsonObject) -> st.SearchStrategy[Json]:
    """Draw values that mostly fit a schema, now and then with a piece that does not."""
    if "$ref" in schema:
        return _near(defs[schema["$ref"].rpartition("/")[2]], defs)
    if "anyOf" in schema:
        fitting = st.one_of([_near(member, defs) for member in schema["anyOf"]])
    elif "enum" in schema:
        fitting = st.sampled_from(schema["enum"])
    elif schema.get("type") == "array":
        fitting = st.lists(_near(schema["items"], defs), max_size=3)
    elif "properties" in schema:
        fields = {key: _near(inside, defs) for key, inside in schema["properties"].items()}
        needed = set(schema.get("required", ()))
        fitting = st.fixed_dictionaries(
            {key: value for key, value in fields.items() if key in needed},
            optional={key: value for key, value in fields.items() if key not in needed},
        )
    elif schema.get("type") == "object":
        fitting = st.dictionaries(st.text(max_size=3), _near(schema.get("additionalProperties", {}), defs))
    else:
        kinds = {"integer": st.integers(-3, 3), "number": st.floats(-3, 3), "string": st.text(max_size=5)}
        kinds |= {"boolean": st.booleans(), "null": st.none()}
        fitting = kinds.get(schema.get("type", ""), _values)
    return st.integers(0, 15).flatmap(lambda odd: _values if odd == 0 else fitting)


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda function: function.__name__)
@given(data=st.data())
def test_arguments_are_accepted_exactly_when_the_schema_says_so(
    function: Callable[..., None], data: st.DataObject
) -> None:
    signature = read_signature(function)
    arguments = data.draw(_near(signature.schema, signature.schema.get("$defs", {})) | _values)
    fits = jsonschema.Draft202012Validator(signature.schema).is_valid(arguments)
    if fits:
        signature.read(arguments)
        return
    with pytest.raises(InvalidValue) as refused:
        signature.read(arguments)
    assert "does not" not in refused.value.found, "the reason is found without msgspec's words"
