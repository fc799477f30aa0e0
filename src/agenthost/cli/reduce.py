"""`agenthost reduce`: the reducers as a filter, to compare them with others and to look into logs.

What a line leaves out counts as absent, as the reducers have it; what is there has to have its type.
"""

import contextlib
import os
import sys
import time
from pathlib import Path
from typing import Any, BinaryIO, Literal, NotRequired, TypedDict

from agenthost.core.reducers import REDUCERS, Live, ResourceKind
from agenthost.errors import HostError, InvalidValue, TooLarge
from agenthost.wire.ahp.actions import RootAction, SessionAction, TerminalAction
from agenthost.wire.ahp.root import RootState
from agenthost.wire.ahp.session import SessionState
from agenthost.wire.ahp.terminal import TerminalState
from agenthost.wire.checks import PARTIAL, Reading
from agenthost.wire.json import Json, encode_json
from agenthost.wire.mismatch import describe
from agenthost.wire.shape import Shape


class Line(TypedDict):
    """What one line asks for."""

    reducer: Literal["root", "session", "terminal"]
    state: dict[str, Any]
    action: NotRequired[dict[str, Any]]
    actions: NotRequired[list[dict[str, Any]]]
    now: NotRequired[float]


MAX_LINE = 64 * 1024 * 1024
"""How many bytes a line may have: an endless one must not take all memory."""

LINE: Shape[Line] = Shape(Line, Reading(unknown=False))

STATES: dict[ResourceKind, Shape[Any]] = {
    "root": Shape(RootState, PARTIAL),
    "session": Shape(SessionState, PARTIAL),
    "terminal": Shape(TerminalState, PARTIAL),
}

ACTIONS: dict[ResourceKind, Shape[Any]] = {
    "root": Shape(RootAction, PARTIAL),
    "session": Shape(SessionAction, PARTIAL),
    "terminal": Shape(TerminalAction, PARTIAL),
}


def run(file: Path | None) -> None:
    """Answer each line of the file, or of standard input, on standard output."""
    with contextlib.ExitStack() as stack:
        source = stack.enter_context(file.open("rb")) if file else sys.stdin.buffer
        if not file and sys.stdin.isatty():
            print("Reading JSON lines from the keyboard; end with Ctrl-D.", file=sys.stderr)
        try:
            _answer_all(source, sys.stdout.buffer)
        except BrokenPipeError:
            # Whoever read the answers has left; so do we, without Python's own complaint at exit.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        except KeyboardInterrupt:
            raise SystemExit(130) from None


def _answer_all(source: BinaryIO, sink: BinaryIO) -> None:
    while line := source.readline(MAX_LINE + 1):
        sink.write((answer(line) if len(line) <= MAX_LINE else _skip_line(source, line)) + b"\n")
        sink.flush()


def _skip_line(source: BinaryIO, line: bytes) -> bytes:
    """Read a line that is too long to its end, keeping none of it, and say so."""
    while line and not line.endswith(b"\n"):
        line = source.readline(MAX_LINE)
    return encode_json({"error": str(TooLarge("the line", MAX_LINE))})


def answer(line: bytes) -> bytes:
    """Answer one line: the state that follows, or an error."""
    try:
        return encode_json(reduce_line(line))
    except HostError as error:
        return encode_json({"error": str(error)})


def reduce_line(line: bytes) -> Json:
    """Give the state that follows.

    Raises:
        HostError: the line is not JSON, or not what it should be; the message says where.
    """
    asked = LINE.decode(line)
    kind = asked["reducer"]
    live = Live(STATES[kind].take(asked["state"], "$.state"))
    now = asked.get("now", int(time.time() * 1000))
    for place, action in _actions(asked):
        if type(action.get("type")) is not str:
            found = describe(action["type"]) if "type" in action else "nothing"
            raise InvalidValue(f"{place}.type", "a string", found)
        live = REDUCERS[kind](live, ACTIONS[kind].take(action, place), now)
    return live.state


def _actions(asked: Line) -> list[tuple[str, dict[str, Any]]]:
    if ("action" in asked) == ("actions" in asked):
        raise InvalidValue("$", "either `action` or `actions`", "both" if "action" in asked else "neither")
    if "action" in asked:
        return [("$.action", asked["action"])]
    return [(f"$.actions[{place}]", action) for place, action in enumerate(asked["actions"])]
