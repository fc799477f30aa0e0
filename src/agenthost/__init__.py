"""agenthost: hosts AI agents and lets any application talk to them, over AAP and AHP.

Importing this package is cheap and starts nothing: each name is loaded from its module when it is first used.
The server, the clients and the command line are separate modules.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from agenthost.errors import HostError, InvalidValue, NotJson, StorageError, TooLarge, ToolError

if TYPE_CHECKING:
    from agenthost.agents.model.agent import ModelAgent
    from agenthost.host.authoring.agent import Agent
    from agenthost.host.authoring.models import Command, Model
    from agenthost.host.authoring.options import Option, Suggestion, SuggestQuery
    from agenthost.host.authoring.questions import Answers, Choice, Question
    from agenthost.host.authoring.reported_call import Decision, ReportedCall
    from agenthost.host.authoring.scope import Scope
    from agenthost.host.authoring.steps import Call, CallInput, Note, Stop, Text, Thought, Usage
    from agenthost.host.authoring.tool import Tool, tool
    from agenthost.host.authoring.tool_context import ToolContext
    from agenthost.host.authoring.tool_results import ToolResult
    from agenthost.host.authoring.tool_source import ToolSource
    from agenthost.host.authoring.turn import Turn
    from agenthost.host.authoring.turn_run import Result
    from agenthost.host.host import Host
    from agenthost.host.limits import Limits

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
    "authoring.agent": ("Agent",),
    "authoring.models": ("Command", "Model"),
    "authoring.questions": ("Answers", "Choice", "Question"),
    "host": ("Host",),
    "limits": ("Limits",),
    "authoring.options": ("Option", "Suggestion", "SuggestQuery"),
    "authoring.reported_call": ("Decision", "ReportedCall"),
    "authoring.scope": ("Scope",),
    "authoring.turn_run": ("Result",),
    "authoring.steps": ("Call", "CallInput", "Note", "Stop", "Text", "Thought", "Usage"),
    "authoring.tool_context": ("ToolContext",),
    "authoring.tool_results": ("ToolResult",),
    "authoring.tool": ("Tool", "tool"),
    "authoring.tool_source": ("ToolSource",),
    "authoring.turn": ("Turn",),
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
