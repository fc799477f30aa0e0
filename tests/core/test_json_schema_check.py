"""The JSON Schema checker: its errors, and schemas that are odd, meaningless or hostile."""

from typing import Any

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from agenthost.core.json_schema_check import find_mismatch
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
def test_an_error_names_the_path_and_what_is_wrong(schema: Any, value: Any, sentence: str) -> None:
    mismatch = find_mismatch(value, schema)
    assert mismatch is not None
    assert sentence in str(mismatch.at("$"))


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
def test_unknown_and_meaningless_keywords_are_ignored(schema: Any, value: Any) -> None:
    assert find_mismatch(value, schema) is None


def test_a_schema_that_never_ends_is_given_up_in_time() -> None:
    doubled = {"anyOf": [{"allOf": [{"$ref": "#"}, {"type": "string"}]}, {"$ref": "#"}]}
    assert find_mismatch(1, doubled) is None


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
def test_it_agrees_with_a_full_validator_on_the_keywords_that_it_knows(schema: Any, value: Any) -> None:
    fits = jsonschema.Draft202012Validator(schema).is_valid(value)
    assert (find_mismatch(value, schema) is None) == fits


def test_arguments_for_a_schema_are_an_object_and_are_not_converted() -> None:
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
    code = "from agenthost.core.json_schema_check import find_mismatch; "
    code += f"{keys}print(find_mismatch({value}, {schema}))"
    run_bounded(code)
