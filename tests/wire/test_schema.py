"""JSON Schema made from annotations."""

from collections.abc import Iterator
from typing import Annotated, Any, Literal, NotRequired, TypedDict

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from agenthost.errors import InvalidValue
from agenthost.wire.aap import v1, v2, v3
from agenthost.wire.annotations import CLOSED, OPEN, ByKey, Tag
from agenthost.wire.json import Json, JsonObject, decode_json, encode_json
from agenthost.wire.schema import Schemas, schema_document
from agenthost.wire.shape import STRICT, Shape
from strategies import json_values, share, values_of


class Leaf(TypedDict):
    """Ends a branch.

    It has
    two paragraphs.
    """

    kind: Literal["leaf"]
    size: NotRequired[int]


class Branch(TypedDict):
    kind: Literal["branch", "twig"]
    inside: "list[Annotated[Leaf | Branch, Tag('kind')]]"
    named: "NotRequired[dict[str, Branch]]"
    weight: NotRequired[float | None]
    free: NotRequired[Json]


class Yes(TypedDict):
    """Agreed."""

    approved: Literal[True]
    by: str


class No(TypedDict):
    """Not choose_version."""

    approved: Literal[False]


class Left(TypedDict):
    """Known by `left`."""

    left: int


class Right(TypedDict):
    """Known by nothing."""

    word: NotRequired[str]


Tree = Annotated[Leaf | Branch, Tag("kind")]
Vote = Annotated[Yes | No, Tag("approved")]
Side = Annotated[Left | Right, ByKey((("left", Left), ("", Right)))]
Named = Annotated[Left | Right, ByKey((("left", Left), ("word", Right)))]


class Everything(TypedDict):
    """One of each."""

    tree: Tree
    vote: Vote
    side: Side
    text: str | list[Leaf]
    level: Literal[1, 2, 3]
    door: Annotated[Literal["open", "shut"], CLOSED]
    roof: Annotated[Literal["flat"], OPEN]
    only: Annotated[Leaf, Tag("kind")]
    many: NotRequired[dict[str, Any]]
    on: NotRequired[bool]


def validator(kind: Any) -> Draft202012Validator:
    schemas = Schemas()
    document = {**schemas.refer(kind), "$defs": schemas.definitions}
    Draft202012Validator.check_schema(document)
    return Draft202012Validator(document)


def fits(kind: Any, value: Json) -> bool:
    try:
        Shape[Any](kind, STRICT).take(decode_json(encode_json(value)))
    except InvalidValue:
        return False
    return True


def leaves(value: Json, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Return the way to every value inside a value, itself included."""
    yield path
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in items:
        yield from leaves(item, (*path, key))


def put(value: Json, path: tuple[Any, ...], new: Json) -> Json:
    if not path:
        return new
    copy = dict(value) if isinstance(value, dict) else list(value)
    copy[path[0]] = put(copy[path[0]], path[1:], new)
    return copy


def whole_floats(value: Json) -> bool:
    """Return whether a number such as `3.0` is inside: to JSON Schema it is whole, to a shape it is not."""
    if isinstance(value, dict | list):
        return any(map(whole_floats, value.values() if isinstance(value, dict) else value))
    return isinstance(value, float) and value.is_integer()


KINDS = [Everything, Tree, Vote, Side]
BODIES = [
    pytest.param(shape.kind, id=f"v{version.VERSION} {path}")
    for version in (v1, v2, v3)
    for path, shape in [*version.REQUESTS.items(), *version.RESPONSES.items()]
]


@pytest.mark.parametrize("kind", [*KINDS, v1.SSEEvent, v3.SSEEvent, *BODIES])
def test_the_schema_and_the_shape_accept_the_same_values(kind: Any) -> None:
    check = validator(kind)

    @settings(max_examples=share(25))
    @given(st.data())
    def holds(data: st.DataObject) -> None:
        value = data.draw(values_of(kind, unknown_keys=True))
        assert fits(kind, value)
        check.validate(value)
        path = data.draw(st.sampled_from(list(leaves(value))))
        broken = put(value, path, data.draw(json_values.filter(lambda new: not whole_floats(new))))
        assert check.is_valid(broken) == fits(kind, broken)

    holds()


@pytest.mark.parametrize(
    ("kind", "value"),
    [
        (Leaf, {}),
        (Leaf, {"kind": "twig"}),
        (Leaf, {"kind": "leaf", "size": 2**63}),
        (Leaf, {"kind": "leaf", "size": None}),
        (Leaf, []),
        (Tree, {"kind": "root"}),
        (Tree, {"kind": "branch", "inside": [{"kind": "leaf"}, {"kind": "branch"}]}),
        (Vote, {"approved": 1, "by": "me"}),
        (Vote, {"approved": True}),
        (Side, {"left": "no"}),
        (Side, {"word": 1}),
        (Side, "left"),
        (v3.PostSessionTurnRequest, {"messages": [{"role": "system", "content": "x"}]}),
        (v3.PostSessionTurnRequest, {"messages": [], "stream": "fast"}),
        (v3.GetMetaResponse, {"version": 2, "agents": []}),
    ],
)
def test_wrong_values_are_refused_by_both(kind: Any, value: Json) -> None:
    assert not validator(kind).is_valid(value)
    assert not fits(kind, value)


def test_a_union_where_no_key_decides_accepts_nothing_else() -> None:
    check = validator(Named)
    assert check.is_valid({"left": 1})
    assert check.is_valid({"word": "x"})
    assert not check.is_valid({"left": "x", "word": "x"})
    assert not check.is_valid({})


def test_a_document_has_every_record_that_is_reached() -> None:
    document = schema_document({"Tree": Tree})
    assert document["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    assert set(document["$defs"]) == {"Tree", "Leaf", "Branch"}
    assert document["$defs"]["Leaf"] == {
        "type": "object",
        "description": "Ends a branch.\n\nIt has\ntwo paragraphs.",
        "properties": {
            "kind": {"const": "leaf"},
            "size": {"type": "integer", "minimum": -(2**63), "maximum": 2**63 - 1},
        },
        "required": ["kind"],
    }


def test_a_recursive_record_refers_to_itself() -> None:
    assert schema_document({"Branch": Branch})["$defs"]["Branch"]["properties"] == {
        "kind": {"enum": ["branch", "twig"]},
        "inside": {"type": "array", "items": Schemas().refer(Tree)},
        "named": {"type": "object", "additionalProperties": {"$ref": "#/$defs/Branch"}},
        "weight": {"anyOf": [{"type": "number"}, {"type": "null"}]},
        "free": {},
    }


def test_a_record_without_a_docstring_has_no_description() -> None:
    assert "description" not in schema_document({"Branch": Branch})["$defs"]["Branch"]


def test_a_tagged_union_has_a_discriminator_under_the_prefix() -> None:
    places = {name: f"#/components/schemas/{name}" for name in ("Leaf", "Branch")}
    assert Schemas("#/components/schemas/").refer(Tree) == {
        "oneOf": [{"$ref": places["Leaf"]}, {"$ref": places["Branch"]}],
        "discriminator": {
            "propertyName": "kind",
            "mapping": {"leaf": places["Leaf"], "branch": places["Branch"], "twig": places["Branch"]},
        },
    }


def test_a_union_told_apart_by_true_and_false_has_no_discriminator() -> None:
    assert Schemas().refer(Vote) == {"oneOf": [{"$ref": "#/$defs/Yes"}, {"$ref": "#/$defs/No"}]}


@pytest.mark.parametrize(
    ("kind", "schema"),
    [
        (Json, {}),
        (JsonObject, {"type": "object"}),
        (bool, {"type": "boolean"}),
        (list[Any], {"type": "array", "items": {}}),
        (str | list[str], {"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}}]}),
        (Literal["a"], {"const": "a"}),
        (Literal["a", "b"], {"enum": ["a", "b"]}),
    ],
)
def test_plain_kinds_have_plain_schemas(kind: Any, schema: JsonObject) -> None:
    assert Schemas().refer(kind) == schema


def test_two_types_of_one_name_are_refused() -> None:
    with pytest.raises(ValueError, match="two types are called 'ToolSpec'"):
        schema_document({"old": v1.ToolSpec, "new": v3.ToolSpec})


def test_a_name_given_to_a_record_is_a_reference_to_it() -> None:
    document = schema_document({"Page": v3.GetSessionsResponse, "SessionInfo": v3.SessionInfo})
    assert document["$defs"]["Page"] == {"$ref": "#/$defs/GetSessionsResponse"}
    assert set(document["$defs"]["SessionInfo"]["required"]) == {"sessionId", "agent"}
