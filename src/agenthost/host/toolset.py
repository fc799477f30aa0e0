"""Tool sets: tools by name, no two alike. Knows nothing of which session has switched on what."""

import logging
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from agenthost.errors import InvalidValue
from agenthost.host.tools import Tool
from agenthost.wire.ahp.tool import ToolDefinition
from agenthost.wire.mismatch import quote

__all__ = ["ToolSet"]

logger = logging.getLogger("agenthost.tools")


class ToolSet(Mapping[str, Tool]):
    """The tools of an agent or a host, in the order they were given in; plain functions become tools."""

    def __init__(self, tools: Iterable[Tool | Callable[..., Any]] = ()) -> None:
        self._tools: dict[str, Tool] = {}
        for one in tools:
            self.add(one)

    def __getitem__(self, name: str) -> Tool:
        return self._tools[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._tools)

    def __len__(self) -> int:
        return len(self._tools)

    def add(self, one: Tool | Callable[..., Any]) -> Tool:
        """Add a tool; the same one twice is once.

        Raises:
            ValueError: another tool has its name.
        """
        new = one if isinstance(one, Tool) else Tool.of(one)
        old = self._tools.setdefault(new.name, new)
        if old is not new and old.function != one:
            raise ValueError(f"two tools are called {new.name!r}: {_place(old)} and {_place(new)}")
        return old

    def joined(self, more: Iterable[tuple[str, Tool]]) -> "ToolSet":
        """Make a set of these tools and more, each with the name of who brings it.

        One whose name is taken is left out, and the log says so: what a session trusts by its name must not
        become another tool.
        """
        both = ToolSet(self._tools.values())
        for owner, one in more:
            if both._tools.setdefault(one.name, one) is not one:
                logger.warning("the tool %s of %s is left out: another has its name", one.name, owner)
        return both

    def exposed(self) -> list[Tool]:
        """List the tools that applications may see."""
        return [one for one in self._tools.values() if one.exposed]

    def definitions(self, names: Iterable[str] | None = None) -> list[ToolDefinition]:
        """Describe these tools, or all."""
        return [self._tools[name].definition() for name in (self._tools if names is None else names)]

    def join(self, client: Sequence[ToolDefinition], at: str = "$.tools") -> list[ToolDefinition]:
        """Describe all tools and those that a client brings, which must have names of their own.

        Raises:
            InvalidValue: the client's name for a tool is one of ours, or is there twice.
        """
        taken = dict.fromkeys(self._tools, "the host's")
        for index, definition in enumerate(client):
            name = definition["name"]
            if name in taken:
                found = f"{quote(name)}, which is {taken[name]} already"
                raise InvalidValue(f"{at}[{index}].name", "a name that no other tool has", found)
            taken[name] = f"that of {at}[{index}]"
        return [*self.definitions(), *client]


def _place(one: Tool) -> str:
    module = getattr(one.function, "__module__", "?")
    return f"{module}.{getattr(one.function, '__qualname__', one.name)}"
