"""The terminal reducer: output, size, holder, commands (T1 to T11)."""

from collections.abc import Callable
from typing import Any, TypeAlias

from agenthost.core.reducers.live import Growth, Live
from agenthost.core.reducers.records import chosen, put
from agenthost.wire.ahp.actions import TerminalAction
from agenthost.wire.ahp.actions.terminal import (
    TerminalCommandExecutedAction,
    TerminalCommandFinishedAction,
)
from agenthost.wire.ahp.actions.text import TerminalData
from agenthost.wire.ahp.terminal import TerminalState

Handler: TypeAlias = Callable[[TerminalState, Any], TerminalState]


class Output(Growth[TerminalState]):
    """The output that goes to the last part of a terminal's content; the target is the field that grows."""

    __slots__ = ()

    def fold(self, base: TerminalState, texts: dict[str, str]) -> TerminalState:
        """Append all that was logged to the last part."""
        content: list[Any] = base["content"]
        last = content[-1]
        grown: Any = {**last, **{field: last.get(field, "") + text for field, text in texts.items()}}
        return {**base, "content": [*content[:-1], grown]}

    def copy(self, length: int) -> "Output":
        """Give the same place with a log of its own."""
        twin = Output()
        twin.log = self.log[:length]
        return twin


def reduce_terminal(
    live: Live[TerminalState], action: TerminalAction | TerminalData, _now: float
) -> Live[TerminalState]:
    """Apply one action; one that does not apply leaves the state as it was."""
    kind = action["type"]
    if kind == "terminal/data":
        return _data(live, str(action.get("data", "")))
    handler = HANDLERS.get(kind)
    if handler is None:
        return live
    before = live.state
    after = handler(before, action)
    return live if after is before else Live(after)


def _data(live: Live[TerminalState], data: str) -> Live[TerminalState]:
    """T1: output goes on in the last part, if that is open, or starts a new one."""
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


def _command_executed(state: TerminalState, action: TerminalCommandExecutedAction) -> TerminalState:
    """T10: commands before it that are still open stay open."""
    command = {
        "type": "command",
        **chosen(action, "commandId", "commandLine", "timestamp"),
        "output": "",
        "isComplete": False,
    }
    return put(state, content=[*state.get("content", []), command], supportsCommandDetection=True)


def _command_finished(state: TerminalState, action: TerminalCommandFinishedAction) -> TerminalState:
    """T11: every command of that id."""
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
    "terminal/input": lambda state, _action: state,
    "terminal/resized": lambda state, action: put(state, cols=action.get("cols"), rows=action.get("rows")),
    "terminal/claimed": lambda state, action: put(state, claim=action.get("claim")),
    "terminal/titleChanged": lambda state, action: put(state, title=action.get("title")),
    "terminal/cwdChanged": lambda state, action: put(state, cwd=action.get("cwd")),
    "terminal/exited": lambda state, action: put(state, exitCode=action.get("exitCode")),
    "terminal/cleared": lambda state, _action: put(state, content=[]),
    "terminal/commandDetectionAvailable": lambda state, _action: put(state, supportsCommandDetection=True),
    "terminal/commandExecuted": _command_executed,
    "terminal/commandFinished": _command_finished,
}
