"""Checks of a request against what the agent declares. Nothing is changed here.

The shape of the body has been checked already; this is about its meaning. Every refusal names the field.
"""

from base64 import b64decode
from binascii import Error as NotBase64
from collections.abc import Mapping, Sequence
from typing import Any

from agenthost.core.transcript import check_imported_history, check_public
from agenthost.edges.aap.agents import options_of
from agenthost.edges.aap.problems import Problem
from agenthost.errors import InvalidValue
from agenthost.host.authoring.agent import Agent
from agenthost.wire.aap.tool_schemas import check_schema
from agenthost.wire.aap.v3 import (
    AgentOverrides,
    ApplicationMessage,
    ContentBlock,
    HistoryMessage,
    StreamMode,
    ToolSpec,
)
from agenthost.wire.error_messages import quote
from agenthost.wire.name_limits import MAX_ID, check_length

__all__ = [
    "check_brought_tools",
    "check_history",
    "check_messages",
    "check_overrides",
    "check_seed_history",
    "check_stream",
]


def check_overrides(agent: Agent, asked: AgentOverrides) -> None:
    """Refuse tools and options that the agent does not have (X4).

    Raises:
        InvalidValue: with the path of the field.
    """
    names: set[str] = set()
    exposed = {one.name for one in agent.toolset.exposed()}
    for place, tool in enumerate(asked.get("tools", [])):
        at = f"$.agent.tools[{place}].name"
        if tool["name"] not in exposed:
            raise InvalidValue(at, _one_of(sorted(exposed), "tool"), quote(tool["name"]))
        if tool["name"] in names:
            raise InvalidValue(at, "each tool once", quote(tool["name"]))
        names.add(tool["name"])
    _check_options(agent, asked.get("options", {}))


def _check_options(agent: Agent, values: Mapping[str, str]) -> None:
    options = {option.name: option for option in options_of(agent)}
    for name, value in values.items():
        option = options.get(name)
        at = f"$.agent.options.{name}"
        if option is None:
            raise InvalidValue(at, _one_of(list(options), "option"), quote(name))
        if option.kind == "select" and value not in option.choices:
            raise InvalidValue(at, _one_of(list(option.choices), "choice"), quote(value))


def _one_of(known: Sequence[str], what: str) -> str:
    return f"one of {', '.join(map(quote, known))}" if known else f"no {what}, as the agent has none"


def check_brought_tools(tools: Sequence[ToolSpec]) -> None:
    """Refuse tools of the application without a name or with an invalid schema (X5).

    The host decides whether the names are free, as for every client.
    """
    for place, tool in enumerate(tools):
        at = f"$.tools[{place}]"
        if not tool["name"]:
            raise InvalidValue(f"{at}.name", "a name", "an empty text")
        check_length(tool["name"], MAX_ID, f"{at}.name")
        check_schema(tool["parameters"], f"{at}.parameters")


def check_stream(agent: Agent, mode: StreamMode) -> None:
    """Refuse a stream mode that the agent does not declare (X8). Without any there is only `none`."""
    declared: Sequence[str] = agent.stream or ("none",)
    if mode not in declared:
        raise InvalidValue("$.stream", _one_of(list(declared), "mode"), quote(mode))


def check_history(agent: Agent, kind: str | None, name: str) -> list[str]:
    """Return the requested kinds of history (L4); `name` is the name of the query parameter.

    Raises:
        InvalidValue: there is no such kind.
        Problem: the agent does not declare it.
    """
    if kind is None:
        return list(agent.history)
    if kind not in ("compacted", "full"):
        raise InvalidValue(name, "'compacted' or 'full'", quote(kind))
    if kind not in agent.history:
        raise Problem(404, "history_not_offered", f"the agent offers no {kind} history", name)
    return [kind]


def check_seed_history(agent: Agent, messages: Sequence[HistoryMessage]) -> None:
    """Refuse a history that no conversation could have (C4), or images that the agent does not accept."""
    check_imported_history(messages, "$.messages")  # type: ignore[arg-type] # the transcript's messages have the same form
    for place, message in enumerate(messages):
        _check_blocks(agent, message, f"$.messages[{place}]")


def check_messages(agent: Agent, messages: Sequence[ApplicationMessage], first: int = 0) -> None:
    """Refuse anything but one user message or a list of results and permissions (X6).

    `first` is the index of the first message in the body.
    """
    if not messages:
        raise InvalidValue("$.messages", "one user message, or results and permissions", "an empty list")
    users = [place for place, message in enumerate(messages) if message["role"] == "user"]
    if users and len(messages) > 1:
        found = "two user messages" if len(users) > 1 else "a user message together with others"
        place = users[1] if len(users) > 1 else users[0]
        raise InvalidValue(
            f"$.messages[{place}]", "one user message alone, or results and permissions", found
        )
    for place, message in enumerate(messages, first):
        # P5: a permission is never part of the history, so it cannot bring private data.
        if message["role"] != "tool_permission":
            check_public([message], "$.messages", place)  # type: ignore[list-item] # the transcript's messages have the same form
        _check_blocks(agent, message, f"$.messages[{place}]")


def _check_blocks(agent: Agent, message: Any, at: str) -> None:
    content: Any = message.get("content")
    if isinstance(content, list):
        for place, block in enumerate(content):
            _check_block(agent, message["role"], block, f"{at}.content[{place}]")


_BLOCKS = {
    "user": {"text", "image"},
    "tool": {"text", "image"},
    "assistant": {"text", "thinking", "tool_use", "image"},
}


def _check_block(agent: Agent, role: str, block: ContentBlock, at: str) -> None:
    if block["type"] not in _BLOCKS[role]:
        allowed = " or ".join(map(quote, sorted(_BLOCKS[role])))
        raise InvalidValue(f"{at}.type", f"{allowed} in a message of role {role!r}", quote(block["type"]))
    if block["type"] == "image":
        _check_image(agent, block["url"], f"{at}.url")


def _check_image(agent: Agent, url: str, at: str) -> None:
    kinds = {"http": "an https:// URL", "data": "a base64 data: URL of an image"}
    wanted = " or ".join(kinds[kind] for kind in agent.images) or "no image, as the agent takes none"
    kind = "http" if url.startswith("https://") else "data" if _is_data(url) else None
    if kind not in agent.images:
        # A data URL may have megabytes; its beginning says enough.
        raise InvalidValue(at, wanted, quote(url[:40]))


def _is_data(url: str) -> bool:
    head, comma, data = url.partition(",")
    if not (head.startswith("data:image/") and head.endswith(";base64") and comma):
        return False
    try:
        b64decode(data, validate=True)
    except (NotBase64, ValueError):  # the latter: not ASCII
        return False
    return True
