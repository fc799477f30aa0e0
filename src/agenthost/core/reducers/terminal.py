"""The terminal reducer: output, size, holder, commands (TM1 to TM10)."""

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

from agenthost.core.reducers.handlers import handle
from agenthost.core.reducers.live import Growth, Live
from agenthost.core.reducers.records import pick, put
from agenthost.wire.ahp.actions import TerminalAction
from agenthost.wire.ahp.actions.text import TerminalData
from agenthost.wire.ahp.terminal import TerminalState

Handler: TypeAlias = Callable[[Any, Any], Any]


class Output(Growth[Any]):
    """Output for the last part of a terminal's content. The target is the field that grows."""

    __slots__ = ()

    def fold(self, base: Any, texts: dict[str, str]) -> Any:
        """Append the logged output to the last part."""
        content: list[Any] = base["content"]
        last = content[-1]
        grown: Any = {**last, **{field: last.get(field, "") + text for field, text in texts.items()}}
        return {**base, "content": [*content[:-1], grown]}

    def copy(self, length: int) -> "Output":
        """Return a copy with its own log."""
        copied = Output()
        copied.log = self.log[:length]
        return copied


def reduce_terminal(live: Live[TerminalState], action: TerminalAction | TerminalData) -> Live[TerminalState]:
    """Apply one action. An action that does not apply leaves the state as it was."""
    return handle_terminal(HANDLERS, live, action)


def handle_terminal(handlers: Mapping[str, Handler], live: Live[Any], action: Any) -> Live[Any]:
    """Append output, or let a handler do what else an action says."""
    if action["type"] == "terminal/data":
        return _data(live, str(action.get("data", "")))
    return handle(handlers, live, action)


def _data(live: Live[Any], data: str) -> Live[Any]:
    """TM1: output is appended to the last part, if that is open, or starts a new one."""
    # `base` is enough, and folds nothing: growth changes texts, never which part is the last.
    content: list[Any] = live.base.get("content", [])
    field = _open_field(content[-1]) if content else None
    if field is not None:
        return live.grown(live.growth or Output(), field, data)
    part: Any = {"type": "unclassified", "value": data}
    return Live(put(live.base, content=[*content, part]))


def _open_field(part: Any) -> str | None:
    if part.get("type") == "command":
        return None if part.get("isComplete") else "output"
    return "value" if part.get("type") == "unclassified" else None


def _exited(state: Any, action: Any) -> Any:
    """TM7: the lifecycle ends, with the exit code if there is one."""
    return put(state, lifecycle={"status": "exited", **pick(action, "exitCode")})


def _command_executed(state: Any, action: Any) -> Any:
    """TM10: earlier commands that are still open stay open. Implies TM9."""
    command = {
        "type": "command",
        **pick(action, "commandId", "commandLine", "timestamp"),
        "output": "",
        "isComplete": False,
    }
    return put(state, content=[*state.get("content", []), command], supportsCommandDetection=True)


def _command_finished(state: Any, action: Any) -> Any:
    """TM11: finish every command with the id."""
    content: list[Any] = state.get("content", [])
    ids = [part.get("commandId") if part.get("type") == "command" else None for part in content]
    if action.get("commandId") not in ids:
        return state
    end = {"isComplete": True, "exitCode": action.get("exitCode"), "durationMs": action.get("durationMs")}
    finished = [
        put(part, **end) if command_id == action.get("commandId") else part
        for part, command_id in zip(content, ids, strict=True)
    ]
    return put(state, content=finished)


HANDLERS: dict[str, Handler] = {
    "terminal/input": lambda state, _action: state,  # TM2
    "terminal/resized": lambda state, action: put(  # TM3
        state, cols=action.get("cols"), rows=action.get("rows")
    ),
    "terminal/claimed": lambda state, action: put(state, claim=action.get("claim")),  # TM4
    "terminal/titleChanged": lambda state, action: put(state, title=action.get("title")),  # TM5
    "terminal/cwdChanged": lambda state, action: put(state, cwd=action.get("cwd")),  # TM6
    "terminal/exited": _exited,
    "terminal/cleared": lambda state, _action: put(state, content=[]),  # TM8
    "terminal/commandDetectionAvailable": lambda state, _action: put(  # TM9
        state, supportsCommandDetection=True
    ),
    "terminal/commandExecuted": _command_executed,
    "terminal/commandFinished": _command_finished,
}
