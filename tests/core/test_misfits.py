"""Misfits: what is said of values that do not fit schemas which others wrote, however odd those are."""

from typing import Any

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from agenthost.core.misfits import find_misfit
from agenthost.core.signatures import SchemaSignature
from agenthost.errors import InvalidValue
from bounding import run_bounded

TREE = {"properties": {"kids": {"type": "array", "items": {"$ref": "#"}}}, "required": ["kids"]}


@pytest.mark.parametrize(
    ("schema", "value", "sentence"),
    [
        ({"type": ["string", "null"]}, 5, "expected a string or null, found the number 5"),
        ({"const": "a"}, "b", "expected 'a', found 'b'"),
        ({"required": ["a"]}, {}, "$.a: expected a value, found nothing"),
        ({"allOf": [{"type": "string"}, {"minLength": 3}]}, "ab", "a string of at least 3 characters"),
        ({"oneOf": [{"type": "string"}, {"type": "integer"}]}, [], "a string or a whole number"),
        ({"items": [{"type": "string"}], "additionalItems": False}, ["a", 1], "$[1]: expected nothing"),
        ({"$ref": "#/definitions/a~1b", "definitions": {"a/b": {"type": "null"}}}, 1, "expected null"),
        ({"multipleOf": 0.1}, 0.35, "a multiple of 0.1"),
        (TREE, {"kids": [{"kids": [{}]}]}, "$.kids[0].kids[0].kids: expected a list, found nothing"),
        ({"properties": {"a": False}}, {"a": 1}, "$.a: expected nothing, found the number 1"),
    ],
)
def test_what_is_wrong_is_said_with_its_place(schema: Any, value: Any, sentence: str) -> None:
    misfit = find_misfit(value, schema)
    assert misfit is not None
    assert sentence in str(misfit.at("$"))


@pytest.mark.parametrize(
    ("schema", "value"),
    [
        ({"multipleOf": 0.1}, 0.3),
        ({"minimum": 5, "minLength": 2}, "short"),
        ({"patternProperties": {"^x": {}}, "additionalProperties": False}, {"x1": 1}),
        ({"$ref": "https://elsewhere.example/schema"}, 1),
        ({"$ref": "#/nowhere"}, 1),
        ({"$ref": "#"}, 1),
        ({"anyOf": [{"$ref": "#"}, {"$ref": "#"}]}, 1),
        ({"type": 5, "required": [[]], "minimum": "a", "properties": 7, "items": 3, "enum": 2}, {"a": [1]}),
        ({"type": "unheard-of", "anyOf": "x", "exclusiveMinimum": True, "multipleOf": 0}, 1),
    ],
)
def test_what_is_not_known_or_makes_no_sense_is_let_pass(schema: Any, value: Any) -> None:
    assert find_misfit(value, schema) is None


def test_a_schema_without_end_is_given_up_in_good_time() -> None:
    doubled = {"anyOf": [{"allOf": [{"$ref": "#"}, {"type": "string"}]}, {"$ref": "#"}]}
    assert find_misfit(1, doubled) is None


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 5) | st.sampled_from(["", "a", "abc"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("ab"), inner, max_size=2),
    max_leaves=6,
)
SIMPLE: st.SearchStrategy[Any] = st.fixed_dictionaries(
    {},
    optional={
        "type": st.sampled_from(
            ["string", "integer", "number", "object", "array", "null", ["string", "null"]]
        ),
        "enum": st.lists(JSON, min_size=1, max_size=3),
        "minimum": st.integers(-3, 3),
        "maxLength": st.integers(0, 2),
        "minItems": st.integers(0, 2),
        "required": st.lists(st.sampled_from("ab"), max_size=2, unique=True),
    },
)
SCHEMAS: st.SearchStrategy[Any] = st.recursive(
    SIMPLE,
    lambda inner: st.fixed_dictionaries(
        {},
        optional={
            "properties": st.dictionaries(st.sampled_from("ab"), inner, max_size=2),
            "additionalProperties": st.booleans() | inner,
            "items": inner,
            "anyOf": st.lists(inner, min_size=1, max_size=2),
            "allOf": st.lists(inner, min_size=1, max_size=2),
        },
    ),
    max_leaves=4,
)


@given(schema=SCHEMAS, value=JSON)
def test_it_agrees_with_a_validator_on_all_that_it_knows(schema: Any, value: Any) -> None:
    fits = jsonschema.Draft202012Validator(schema).is_valid(value)
    assert (find_misfit(value, schema) is None) == fits


def test_input_by_a_schema_is_an_object_and_stays_what_it_is() -> None:
    signature = SchemaSignature({"properties": {"n": {"type": "integer"}}})
    assert signature.read({"n": 1, "more": [2]}) == {"arguments": {"n": 1, "more": [2]}}
    with pytest.raises(InvalidValue, match=r"\$: expected an object, found a list"):
        signature.read([])
    with pytest.raises(InvalidValue, match=r"\$\.n: expected a whole number"):
        signature.read({"n": "1"})


@pytest.mark.parametrize(
    ("value", "schema"),
    [
        ("[1] * 20_000", "{'items': {'enum': [str(n) for n in range(20_000)] + [1]}}"),
        ("[dict.fromkeys(KEYS)] * 20_000", "{'items': {'required': KEYS}}"),
        ("1", "{'oneOf': [{'$ref': '#'}] * 100, 'type': 'string'}"),
        ("'a' * 60", "{'pattern': '(a*)*b'}"),
        ("{'a' * 60: 1}", "{'patternProperties': {'(a*)*b': False}}"),
    ],
)
def test_no_schema_takes_long(value: str, schema: str) -> None:
    keys = "KEYS = [str(number) for number in range(20_000)]; "
    code = f"from agenthost.core.misfits import find_misfit; {keys}print(find_misfit({value}, {schema}))"
    run_bounded(code)
