"""Tables: what may be written of an agent, and its reading with the place of all that is wrong."""

from typing import Any, Literal, TypeVar

import msgspec

from agenthost.agents.declared.places import Place
from agenthost.core.misfits import find_misfit

__all__ = ["AgentTable", "McpTable", "OptionTable", "SubagentTable", "read_table"]

T = TypeVar("T", bound=msgspec.Struct)


class OptionTable(msgspec.Struct, kw_only=True):
    """Something that a session can set: `[options.NAME]`."""

    type: Literal["text", "select", "secret"] = "text"
    default: str | None = None
    choices: list[str] = []
    title: str | None = None
    description: str | None = None


class McpTable(msgspec.Struct, kw_only=True):
    """A server of tools: `[mcp.NAME]`; the arguments of `McpServer`."""

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
    """Another agent that tasks can be given to: `[subagents.NAME]`."""

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


INSIDE: dict[str, type[msgspec.Struct]] = {
    "options": OptionTable,
    "mcp": McpTable,
    "subagents": SubagentTable,
}
"""The keys of an agent that hold tables by their names."""


def read_table(table: Any, kind: type[T], place: Place) -> T:
    """Check a table, and give it its type.

    Raises:
        DeclarationError: a key that there is not, or a value of another type.
    """
    if isinstance(table, dict):
        place.check_keys(table, kind.__struct_fields__)
        for key, inside in INSIDE.items() if kind is AgentTable else ():
            _check_inside(table.get(key), inside, place.under(key))
    try:
        return msgspec.convert(table, kind, strict=True)
    except msgspec.ValidationError as error:
        raise place.wrong(str(error)) if (found := _misfit(table, kind, place)) is None else found from None


def _check_inside(tables: Any, kind: type[msgspec.Struct], place: Place) -> None:
    for name, one in tables.items() if isinstance(tables, dict) else ():
        read_table(one, kind, place.under(name))


def _misfit(table: Any, kind: type[msgspec.Struct], place: Place) -> Exception | None:
    (top,), defs = msgspec.json.schema_components([kind])
    misfit = find_misfit(table, {**top, "$defs": defs})
    if misfit is None:
        return None
    wrong = misfit.at("")
    path = place.path + wrong.path if place.path else wrong.path.removeprefix(".")
    expected, found = (_in_toml(words) for words in (wrong.expected, wrong.found))
    return Place(place.file, path).wrong(f"expected {expected}, found {found}")


def _in_toml(words: str) -> str:
    """Speak of TOML, which has tables and dates, and no null."""
    return words.replace(" or null", "").replace("an object", "a table").replace("a Python ", "a ")
