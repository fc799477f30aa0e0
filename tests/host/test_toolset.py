"""Tool sets: no two tools of one name, whoever brings them."""

import pytest

from agenthost.host.authoring.tool import Tool, tool
from agenthost.host.authoring.toolset import ToolSet


def add(a: int, b: int) -> int:
    """Add."""
    return a + b


@tool(exposed=False)
def secret() -> str:
    return "hush"


def test_tools_are_found_by_name_in_the_order_they_came_in() -> None:
    tools = ToolSet([secret, add])
    assert list(tools) == ["secret", "add"]
    assert tools["add"].function is add
    assert tools.get("nope") is None


def test_only_exposed_tools_are_for_applications_to_see() -> None:
    assert [one.name for one in ToolSet([secret, add]).exposed()] == ["add"]


def test_the_same_tool_twice_is_there_once() -> None:
    assert len(ToolSet([secret, secret, add, add])) == 2


def test_two_tools_with_one_name_are_refused_and_both_are_named() -> None:
    def other() -> None: ...

    places = r"two tools are called 'add': .*test_toolset\.add and .*<locals>\.other"
    with pytest.raises(ValueError, match=places):
        ToolSet([add, Tool.of(other, name="add")])


def test_one_function_under_two_sets_of_options_is_two_tools() -> None:
    with pytest.raises(ValueError, match="two tools"):
        ToolSet([Tool.of(add), Tool.of(add, timeout=1)])
