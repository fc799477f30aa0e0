"""The tables of an agent in TOML, and their validation with the location of each error."""

from typing import Any, Literal, TypeVar

import msgspec

from agenthost.agents.declared.locations import Location
from agenthost.core.json_schema_check import find_mismatch

__all__ = ["AgentTable", "McpTable", "OptionTable", "SubagentTable", "read_table"]

T = TypeVar("T", bound=msgspec.Struct)


class OptionTable(msgspec.Struct, kw_only=True):
    """An option that a session can set: `[options.NAME]`."""

    type: Literal["text", "select", "secret"] = "text"
    default: str | None = None
    choices: list[str] = []
    title: str | None = None
    description: str | None = None


class McpTable(msgspec.Struct, kw_only=True):
    """An MCP server: `[mcp.NAME]`, with the arguments of `McpServer`."""

    command: str | list[str] | None = None
    url: str | None = None
    env: dict[str, str] = {}
    headers: dict[str, str] = {}
    cwd: str | None = None
    tools: list[str] | None = None
    trust: bool | list[str] | None = None
    trusted: bool = False
    prefix: str | None = None
    timeout: float | None = None


class SubagentTable(msgspec.Struct, kw_only=True):
    """A subagent: `[subagents.NAME]`."""

    title: str | None = None
    description: str | None = None
    trust: list[str] = []


class AgentTable(msgspec.Struct, kw_only=True):
    """An agent: a model, or a program that speaks ACP."""

    title: str | None = None
    description: str | None = None
    version: str | None = None
    model: str | None = None
    models: list[str] = []
    base_url: str | None = None
    api_key_env: str | None = None
    settings: dict[str, Any] = {}
    context_tokens: int | None = None
    system: str | None = None
    system_file: str | None = None
    options: dict[str, OptionTable] = {}
    tools: list[str] = []
    mcp: dict[str, McpTable] = {}
    subagents: list[str] | dict[str, SubagentTable] = []
    mask_errors: bool = False
    acp: str | list[str] | None = None
    env: dict[str, str] = {}
    cwd: str | None = None
    mode: str | None = None


NESTED_TABLES: dict[str, type[msgspec.Struct]] = {
    "options": OptionTable,
    "mcp": McpTable,
    "subagents": SubagentTable,
}
"""The keys of an agent that hold tables by name."""


def read_table(table: Any, kind: type[T], location: Location) -> T:
    """Validate a table, and convert it to its type.

    Raises:
        AgentFileError: a key is unknown, or a value has the wrong type.
    """
    if isinstance(table, dict):
        location.check_keys(table, kind.__struct_fields__)
        for key, inside in NESTED_TABLES.items() if kind is AgentTable else ():
            _check_nested(table.get(key), inside, location.under(key))
    try:
        return msgspec.convert(table, kind, strict=True)
    except msgspec.ValidationError as error:
        raise (
            location.error(str(error)) if (found := _find_error(table, kind, location)) is None else found
        ) from None


def _check_nested(tables: Any, kind: type[msgspec.Struct], location: Location) -> None:
    for name, one in tables.items() if isinstance(tables, dict) else ():
        read_table(one, kind, location.under(name))


def _find_error(table: Any, kind: type[msgspec.Struct], location: Location) -> Exception | None:
    (top,), defs = msgspec.json.schema_components([kind])
    misfit = find_mismatch(table, {**top, "$defs": defs})
    if misfit is None:
        return None
    wrong = misfit.at("")
    path = location.path + wrong.path if location.path else wrong.path.removeprefix(".")
    expected, found = (_toml_words(words) for words in (wrong.expected, wrong.found))
    return Location(location.file, path).error(f"expected {expected}, found {found}")


def _toml_words(words: str) -> str:
    """Use TOML's terms: it has tables, and no null."""
    return words.replace(" or null", "").replace("an object", "a table").replace("a Python ", "a ")
