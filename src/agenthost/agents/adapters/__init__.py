"""Agents made of what people have already: a function, a pydantic-ai agent, a LangGraph graph.

What stands here is fetched when it is first used, so that nobody needs the libraries of the others.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from agenthost.commands import install
from agenthost.errors import AgentUnavailable

if TYPE_CHECKING:
    from agenthost.agents.adapters.functions import TextAgent
    from agenthost.agents.adapters.graphs import LangGraphAgent
    from agenthost.agents.adapters.runs import PydanticAgent

__all__ = ["LangGraphAgent", "PydanticAgent", "TextAgent"]

_PLACES = {"TextAgent": "functions", "PydanticAgent": "runs", "LangGraphAgent": "graphs"}
_MISSING = {
    "pydantic_ai": ("a PydanticAgent needs pydantic-ai", "agenthost[llm]"),
    "langchain_core": ("a LangGraphAgent needs LangGraph", "langgraph"),
    "langgraph": ("a LangGraphAgent needs LangGraph", "langgraph"),
}


def __getattr__(name: str) -> Any:
    """Fetch an adapter from its module."""
    if name not in _PLACES:
        raise AttributeError(f"module 'agenthost.agents.adapters' has no attribute {name!r}")
    try:
        return getattr(import_module(f"agenthost.agents.adapters.{_PLACES[name]}"), name)
    except ModuleNotFoundError as error:
        library = (error.name or "").partition(".")[0]
        if library not in _MISSING:
            raise
        sentence, package = _MISSING[library]
        raise AgentUnavailable(f"{sentence}: {install(package)}") from None


def __dir__() -> list[str]:
    return sorted(__all__)
