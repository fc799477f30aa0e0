"""Tool sets: no two tools of one name, whoever brings them."""

import pytest

from agenthost.errors import InvalidValue
from agenthost.host.tools import Tool, tool
from agenthost.host.toolset import ToolSet
from agenthost.wire.ahp.tool import ToolDefinition


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


def test_two_tools_of_one_name_are_refused_by_the_names_of_both() -> None:
    def other() -> None: ...

    places = r"two tools are called 'add': .*test_toolset\.add and .*<locals>\.other"
    with pytest.raises(ValueError, match=places):
        ToolSet([add, Tool.of(other, name="add")])


def test_one_function_under_two_sets_of_options_is_two_tools() -> None:
    with pytest.raises(ValueError, match="two tools"):
        ToolSet([Tool.of(add), Tool.of(add, timeout=1)])


def test_a_clients_tools_join_the_hosts() -> None:
    mine: list[ToolDefinition] = [{"name": "open_tab"}]
    assert [one["name"] for one in ToolSet([add]).join(mine)] == ["add", "open_tab"]
    assert ToolSet([add, secret]).definitions(["add"]) == [Tool.of(add).definition()]


@pytest.mark.parametrize(
    ("names", "found"),
    [
        (["x", "add"], "'add', which is the host's already"),
        (["x", "x"], "'x', which is that of $.tools[0] already"),
    ],
)
def test_a_clients_name_that_is_taken_is_refused_with_its_place(names: list[str], found: str) -> None:
    with pytest.raises(InvalidValue) as refused:
        ToolSet([add]).join([{"name": name} for name in names])
    assert refused.value.path == "$.tools[1].name"
    assert refused.value.found == found
