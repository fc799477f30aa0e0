"""agenthost: hosts AI agents and lets any application talk to them, over AAP and AHP.

Importing this package is cheap and starts nothing: what stands here is fetched from its module when it is
first used. The server, the clients and the command line are modules of their own.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from agenthost.errors import HostError, InvalidValue, NotJson, StorageError, TooLarge, ToolError

if TYPE_CHECKING:
    from agenthost.agents.model.agent import ModelAgent
    from agenthost.host.agent import Agent, Command, Model
    from agenthost.host.asking import Answers, Choice, Question
    from agenthost.host.host import Host
    from agenthost.host.limits import Limits
    from agenthost.host.options import Option, Suggestion, SuggestQuery
    from agenthost.host.previews import Scope
    from agenthost.host.reports import Decision, ReportedCall
    from agenthost.host.running import Result
    from agenthost.host.steps import Call, CallInput, Note, Stop, Text, Thought, Usage
    from agenthost.host.toolcontext import ToolContext
    from agenthost.host.toolresults import ToolResult
    from agenthost.host.tools import Tool, tool
    from agenthost.host.toolsources import ToolSource
    from agenthost.host.turn import Turn

__version__ = "0.1.0.dev0"

__all__ = [
    "Agent",
    "Answers",
    "Call",
    "CallInput",
    "Choice",
    "Command",
    "Decision",
    "Host",
    "HostError",
    "InvalidValue",
    "Limits",
    "Model",
    "ModelAgent",
    "NotJson",
    "Note",
    "Option",
    "Question",
    "ReportedCall",
    "Result",
    "Scope",
    "Stop",
    "StorageError",
    "SuggestQuery",
    "Suggestion",
    "Text",
    "Thought",
    "TooLarge",
    "Tool",
    "ToolContext",
    "ToolError",
    "ToolResult",
    "ToolSource",
    "Turn",
    "Usage",
    "__version__",
    "tool",
]

_PLACES = {
    "agent": ("Agent", "Command", "Model"),
    "asking": ("Answers", "Choice", "Question"),
    "host": ("Host",),
    "limits": ("Limits",),
    "options": ("Option", "Suggestion", "SuggestQuery"),
    "reports": ("Decision", "ReportedCall"),
    "previews": ("Scope",),
    "running": ("Result",),
    "steps": ("Call", "CallInput", "Note", "Stop", "Text", "Thought", "Usage"),
    "toolcontext": ("ToolContext",),
    "toolresults": ("ToolResult",),
    "tools": ("Tool", "tool"),
    "toolsources": ("ToolSource",),
    "turn": ("Turn",),
}
_MODULES = {name: f"agenthost.host.{module}" for module, names in _PLACES.items() for name in names}
_MODULES["ModelAgent"] = "agenthost.agents.model.agent"


def __getattr__(name: str) -> Any:
    """Fetch a public name from its module."""
    if name not in _MODULES:
        raise AttributeError(f"module 'agenthost' has no attribute {name!r}")
    value = getattr(import_module(_MODULES[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
