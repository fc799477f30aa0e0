"""`agenthost reduce`: the reducers as a filter, to compare them with other implementations and to read logs.

Fields that a line leaves out count as absent, as in the reducers; those that it has must have the right type.
"""

import contextlib
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, Generic, Literal, NotRequired, TypedDict, TypeVar

from agenthost.cli.exit_codes import INTERRUPTED, leave_pipe
from agenthost.core import reducers
from agenthost.core.legacy import reducers as legacy
from agenthost.core.reducers import Live
from agenthost.errors import HostError, InvalidValue, TooLarge
from agenthost.wire.ahp import actions
from agenthost.wire.ahp.annotation import AnnotationsState
from agenthost.wire.ahp.automation import AutomationRunState, AutomationState
from agenthost.wire.ahp.canvas import CanvasState
from agenthost.wire.ahp.changeset import ChangesetState
from agenthost.wire.ahp.chat import ChatState
from agenthost.wire.ahp.legacy import actions as legacy_actions
from agenthost.wire.ahp.legacy.root import RootState as LegacyRootState
from agenthost.wire.ahp.legacy.session import SessionState as LegacySessionState
from agenthost.wire.ahp.legacy.terminal import TerminalState as LegacyTerminalState
from agenthost.wire.ahp.resource import ResourceWatchState
from agenthost.wire.ahp.root import RootState
from agenthost.wire.ahp.session import SessionState
from agenthost.wire.ahp.terminal import TerminalState
from agenthost.wire.checks import PARTIAL, ReadMode
from agenthost.wire.error_messages import describe
from agenthost.wire.json import Json, encode_json
from agenthost.wire.shape import Shape

K = TypeVar("K", bound=str)


class Line(TypedDict):
    """One line of the input; `reducer` is read as its protocol says."""

    protocol: NotRequired[Literal["0.1", "1.0"]]
    state: dict[str, Any]
    action: NotRequired[dict[str, Any]]
    actions: NotRequired[list[dict[str, Any]]]
    now: NotRequired[float]  # 0.1 alone: since then, times come with the actions


class LegacyChoice(TypedDict):
    """The reducer of a line of AHP 0.1."""

    reducer: legacy.ResourceKind


class Choice(TypedDict):
    """The reducer of a line of AHP 1.0."""

    reducer: reducers.ResourceKind


@dataclass(frozen=True)
class Protocol(Generic[K]):
    """The kinds of resources in a version of AHP, with their states, actions and reducers."""

    choice: Shape[Any]
    states: dict[K, Shape[Any]]
    actions: dict[K, Shape[Any]]
    reduce: Callable[[K, Live[Any], Any, float], Live[Any]]


MAX_LINE = 64 * 1024 * 1024
"""How many bytes a line may have: an endless line must not fill the memory."""

CLOSED = ReadMode(unknown=False)

LINE: Shape[Line] = Shape(Line, CLOSED)

LEGACY: Protocol[legacy.ResourceKind] = Protocol(
    Shape(LegacyChoice, CLOSED),
    {
        "root": Shape(LegacyRootState, PARTIAL),
        "session": Shape(LegacySessionState, PARTIAL),
        "terminal": Shape(LegacyTerminalState, PARTIAL),
    },
    {
        "root": Shape(legacy_actions.RootAction, PARTIAL),
        "session": Shape(legacy_actions.SessionAction, PARTIAL),
        "terminal": Shape(legacy_actions.TerminalAction, PARTIAL),
    },
    lambda kind, live, action, now: legacy.REDUCERS[kind](live, action, now),
)

CURRENT: Protocol[reducers.ResourceKind] = Protocol(
    Shape(Choice, CLOSED),
    {
        "root": Shape(RootState, PARTIAL),
        "session": Shape(SessionState, PARTIAL),
        "chat": Shape(ChatState, PARTIAL),
        "terminal": Shape(TerminalState, PARTIAL),
        "changeset": Shape(ChangesetState, PARTIAL),
        "resourceWatch": Shape(ResourceWatchState, PARTIAL),
        "annotations": Shape(AnnotationsState, PARTIAL),
        "automation": Shape(AutomationState, PARTIAL),
        "automationRun": Shape(AutomationRunState, PARTIAL),
        "canvas": Shape(CanvasState, PARTIAL),
    },
    {
        "root": Shape(actions.RootAction, PARTIAL),
        "session": Shape(actions.SessionAction, PARTIAL),
        "chat": Shape(actions.ChatAction, PARTIAL),
        "terminal": Shape(actions.TerminalAction, PARTIAL),
        "changeset": Shape(actions.ChangesetAction, PARTIAL),
        "resourceWatch": Shape(actions.ResourceWatchAction, PARTIAL),
        "annotations": Shape(actions.AnnotationsAction, PARTIAL),
        "automation": Shape(actions.AutomationAction, PARTIAL),
        "automationRun": Shape(actions.AutomationRunAction, PARTIAL),
        "canvas": Shape(actions.CanvasAction, PARTIAL),
    },
    lambda kind, live, action, _now: reducers.REDUCERS[kind](live, action),
)

PROTOCOLS: dict[str, Protocol[Any]] = {"0.1": LEGACY, "1.0": CURRENT}
"""By what a line calls it; a line that says nothing is of the oldest."""


def run(file: Path | None) -> None:
    """Read lines from the file or standard input, and print the answer to each."""
    with contextlib.ExitStack() as stack:
        source = stack.enter_context(file.open("rb")) if file else sys.stdin.buffer
        if not file and sys.stdin.isatty():
            print("Reading JSON lines from the keyboard; press Ctrl-D to end.", file=sys.stderr)
        try:
            _answer_all(source, sys.stdout.buffer)
        except BrokenPipeError:
            leave_pipe()
        except KeyboardInterrupt:
            raise SystemExit(INTERRUPTED) from None


def _answer_all(source: BinaryIO, sink: BinaryIO) -> None:
    while line := source.readline(MAX_LINE + 1):
        sink.write((answer(line) if len(line) <= MAX_LINE else _skip_line(source, line)) + b"\n")
        sink.flush()


def _skip_line(source: BinaryIO, line: bytes) -> bytes:
    """Skip the rest of a line that is too long, and return the error."""
    while line and not line.endswith(b"\n"):
        line = source.readline(MAX_LINE)
    return encode_json({"error": str(TooLarge("the line", MAX_LINE))})


def answer(line: bytes) -> bytes:
    """Return the answer to one line: the resulting state, or an error."""
    try:
        return encode_json(reduce_line(line))
    except HostError as error:
        return encode_json({"error": str(error)})


def reduce_line(line: bytes) -> Json:
    """Return the resulting state.

    Raises:
        HostError: the line is not JSON or has a wrong value; the message says where.
    """
    asked = LINE.decode(line)
    protocol = PROTOCOLS[asked.get("protocol", "0.1")]
    kind = protocol.choice.take(asked)["reducer"]
    live = Live(protocol.states[kind].take(asked["state"], "$.state"))
    now = asked.get("now", int(time.time() * 1000))
    for place, action in _actions(asked):
        if type(action.get("type")) is not str:
            found = describe(action["type"]) if "type" in action else "nothing"
            raise InvalidValue(f"{place}.type", "a string", found)
        live = protocol.reduce(kind, live, protocol.actions[kind].take(action, place), now)
    return live.state


def _actions(asked: Line) -> list[tuple[str, dict[str, Any]]]:
    if ("action" in asked) == ("actions" in asked):
        raise InvalidValue("$", "either `action` or `actions`", "both" if "action" in asked else "neither")
    if "action" in asked:
        return [("$.action", asked["action"])]
    return [(f"$.actions[{place}]", action) for place, action in enumerate(asked["actions"])]
