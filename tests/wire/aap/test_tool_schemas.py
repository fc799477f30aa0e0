"""The schemas of tools: what a model can be given, and how the rest is refused."""

from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator
from jsonschema.exceptions import SchemaError

from agenthost.errors import InvalidValue
from agenthost.wire.aap.tool_schemas import check_schema
from strategies import json_values

KEYWORDS = ["type", "required", "enum", "properties", "items", "anyOf", "not", "$defs", "prefixItems", "if"]
VALUES = json_values | st.sampled_from(["object", "string", "nothing"]) | st.just(["object", "null"])
SCHEMAS = st.dictionaries(
    st.sampled_from(KEYWORDS), VALUES | st.dictionaries(st.just("a"), VALUES), max_size=4
)


def refusal(schema: Any) -> str:
    with pytest.raises(InvalidValue) as caught:
        check_schema(schema, "$.parameters")
    return str(caught.value)


@pytest.mark.parametrize(
    "schema",
    [
        {},
        {"type": "object"},
        {"type": "object", "properties": {"a": {"type": ["string", "null"]}, "b": True}, "required": ["a"]},
        {"properties": {"a": {"enum": [1, "x", None]}}, "additionalProperties": False},
        {"$defs": {"a": {"type": "array", "items": {"$ref": "#/$defs/a"}}}},
        {"anyOf": [{"required": ["a"]}, {"required": ["b"]}], "x-unknown": 5},
    ],
)
def test_a_schema_of_an_object_is_accepted(schema: Any) -> None:
    check_schema(schema, "$.parameters")
    Draft202012Validator.check_schema(schema)


@pytest.mark.parametrize(
    ("schema", "where", "what"),
    [
        (5, "$.parameters", "a JSON Schema"),
        ([], "$.parameters", "a JSON Schema"),
        (True, "$.parameters.type", "'object'"),
        ({"type": "string"}, "$.parameters.type", "'object'"),
        ({"type": ["object"]}, "$.parameters.type", "'object'"),
        ({"type": "text"}, "$.parameters.type", "one of 'array', 'boolean'"),
        ({"type": 5}, "$.parameters.type", "a list"),
        ({"type": [5]}, "$.parameters.type", "one of 'array', 'boolean'"),
        ({"required": "a"}, "$.parameters.required", "a list"),
        ({"required": [5]}, "$.parameters.required", "a list of names"),
        ({"enum": {}}, "$.parameters.enum", "a list"),
        ({"properties": []}, "$.parameters.properties", "an object of schemas"),
        ({"properties": {"a": 5}}, "$.parameters.properties.a", "a JSON Schema"),
        ({"anyOf": {}}, "$.parameters.anyOf", "a list"),
        ({"anyOf": [{}, {"type": "x"}]}, "$.parameters.anyOf[1].type", "one of"),
        ({"not": {"items": "x"}}, "$.parameters.not.items", "a JSON Schema"),
        ({"$defs": {"a": {"if": {"enum": 5}}}}, "$.parameters.$defs.a.if.enum", "a list"),
    ],
)
def test_anything_else_is_refused_with_its_path(schema: Any, where: str, what: str) -> None:
    sentence = refusal(schema)
    assert sentence.startswith(f"{where}: expected {what}")
    assert ", found " in sentence


@pytest.mark.parametrize(
    ("keyword", "inside", "where"),
    [
        *(
            (one, 5, "")
            for one in "items additionalProperties not contains propertyNames if then else".split()
        ),
        *((one, [True, 5], "[1]") for one in "anyOf allOf oneOf prefixItems".split()),
        *(
            (one, {"a": 5}, ".a")
            for one in "properties patternProperties $defs definitions dependentSchemas".split()
        ),
    ],
)
def test_schemas_are_looked_for_wherever_a_schema_can_hold_one(keyword: str, inside: Any, where: str) -> None:
    assert refusal({keyword: inside}).startswith(f"$.parameters.{keyword}{where}: expected a JSON Schema")


@given(schema=SCHEMAS)
def test_schemas_of_objects_that_validators_accept_are_accepted(schema: Any) -> None:
    try:
        Draft202012Validator.check_schema(schema)
    except SchemaError:
        return
    if schema.get("type", "object") == "object":
        check_schema(schema, "$")


@given(schema=json_values)
def test_any_value_is_accepted_or_refused_and_only_an_object_is_accepted(schema: Any) -> None:
    if type(schema) is not dict:
        assert refusal(schema).startswith("$.parameters")
        return
    with suppress(InvalidValue):
        check_schema(schema, "$.parameters")
