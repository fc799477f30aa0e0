"""Adapters that make an agent of a function, a pydantic-ai agent or a LangGraph graph.

Each is imported on first use, so that only its own library is needed.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from agenthost.commands import install_command
from agenthost.errors import AgentUnavailable

if TYPE_CHECKING:
    from agenthost.agents.adapters.langgraph_agent import LangGraphAgent
    from agenthost.agents.adapters.pydantic_agent import PydanticAgent
    from agenthost.agents.adapters.text_agent import TextAgent

__all__ = ["LangGraphAgent", "PydanticAgent", "TextAgent"]

_MODULES = {"TextAgent": "text_agent", "PydanticAgent": "pydantic_agent", "LangGraphAgent": "langgraph_agent"}
_MISSING = {
    "pydantic_ai": ("a PydanticAgent needs pydantic-ai", "agenthost[llm]"),
    "langchain_core": ("a LangGraphAgent needs LangGraph", "langgraph"),
    "langgraph": ("a LangGraphAgent needs LangGraph", "langgraph"),
}


def __getattr__(name: str) -> Any:
    """Import an adapter."""
    if name not in _MODULES:
        raise AttributeError(f"module 'agenthost.agents.adapters' has no attribute {name!r}")
    try:
        return getattr(import_module(f"agenthost.agents.adapters.{_MODULES[name]}"), name)
    except ModuleNotFoundError as error:
        library = (error.name or "").partition(".")[0]
        if library not in _MISSING:
            raise
        sentence, package = _MISSING[library]
        raise AgentUnavailable(f"{sentence}: {install_command(package)}") from None


def __dir__() -> list[str]:
    return sorted(__all__)
