"""Tool sets: tools by unique name. Knows nothing of which session has switched on what."""

import logging
from collections.abc import Callable, Iterable
from typing import Any

from agenthost.host.authoring.tool import Tool

__all__ = ["ToolSet"]

logger = logging.getLogger("agenthost.tools")


class ToolSet(dict[str, Tool]):
    """The tools of an agent, by name, in the order they were declared. Plain functions become tools."""

    def __init__(self, tools: Iterable[Tool | Callable[..., Any]] = ()) -> None:
        super().__init__()
        for one in tools:
            self.add(one)

    def add(self, one: Tool | Callable[..., Any]) -> Tool:
        """Add a tool, and return it. Adding the same one again does nothing.

        Raises:
            ValueError: another tool has its name.
        """
        new = one if isinstance(one, Tool) else Tool.of(one)
        old = self.setdefault(new.name, new)
        if old is not new and old.function != one:
            raise ValueError(f"two tools are called {new.name!r}: {_place(old)} and {_place(new)}")
        return old

    def joined(self, more: Iterable[tuple[str, Tool]]) -> "ToolSet":
        """Return a set of these tools and more, which are given with the name of their source.

        A tool whose name is taken is left out, with a warning: a session trusts tools by name, so a name must
        not come to mean another tool.
        """
        both = ToolSet(self.values())
        for owner, one in more:
            if both.setdefault(one.name, one) is not one:
                logger.warning("tool %s of %s is left out: another tool has its name", one.name, owner)
        return both

    def exposed(self) -> list[Tool]:
        """Return the tools that clients may see."""
        return [one for one in self.values() if one.exposed]


def _place(one: Tool) -> str:
    module = getattr(one.function, "__module__", "?")
    return f"{module}.{getattr(one.function, '__qualname__', one.name)}"
