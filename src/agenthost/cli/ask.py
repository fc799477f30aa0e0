"""`agenthost ask`: one question to an agent, and its answer on the terminal as it comes.

The answer alone goes to the standard output; what else there is to say goes to the standard error.
"""

import asyncio
import os
import sys
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field

from agenthost.cli.ending import STOPS, plain_ends, safe, without_controls
from agenthost.cli.pairs import read_pairs
from agenthost.client import (
    DEFAULT_URL,
    AapClient,
    Permission,
    Session,
    SSEEvent,
    ToolCall,
    TurnOptions,
    Unauthorized,
    Unreachable,
)
from agenthost.wire.json import encode_json

__all__ = ["Question", "run"]

LONGEST_INPUT = 500
"""How much of the input of a call is shown."""

_DIM, _PLAIN = "\x1b[2m", "\x1b[0m"


@dataclass(frozen=True, slots=True)
class Question:
    """What was asked for on the command line."""

    message: str
    url: str | None = None
    key: str | None = None
    agent: str | None = None
    session: str | None = None
    options: Sequence[str] = field(default_factory=list)
    tools: Sequence[str] = field(default_factory=list)
    trusted: Sequence[str] = field(default_factory=list)


def run(question: Question) -> None:
    """Ask, and end with 0 if the answer is whole, 1 if it is not, 2 if the question makes no sense."""
    with plain_ends(unreachable=Unreachable, unauthorized=Unauthorized):
        how = _how(question)
        message = _message(question.message)
        code = asyncio.run(_ask(question, message, how))
    raise SystemExit(code)


def _message(word: str) -> str:
    text = sys.stdin.read().rstrip("\n") if word == "-" else word
    if not text.strip():
        raise ValueError("there is nothing to say: the message is empty")
    return text


def _how(question: Question) -> TurnOptions:
    """Read what is to be set of the session.

    Raises:
        ValueError: an option is not of the form NAME=VALUE, or a session is to change its agent.
    """
    if question.session is not None and question.agent is not None:
        raise ValueError("--agent: a session keeps its agent, so it cannot be given with --session")
    how: TurnOptions = {}
    if question.options:
        how["options"] = read_pairs("--option", question.options)
    if question.tools or question.trusted:
        how["server_tools"], how["trusted_tools"] = list(question.tools), list(question.trusted)
    return how


async def _ask(question: Question, message: str, how: TurnOptions) -> int:
    async with AapClient(question.url or DEFAULT_URL, key=question.key or None, permission=_decide) as client:
        # A new session is made with what is set: if that is wrong, none is made.
        session = await _session(client, question, how)
        screen = _Screen()
        with ExitStack() as stack:
            stack.callback(_tell_session, session)
            stack.callback(screen.end)
            async for event in session.send(message, **(how if question.session else {})):
                screen.show(event)
    if screen.stop_reason == "end_turn":
        return 0
    sentence = STOPS.get(screen.stop_reason, f"the turn ended with {screen.stop_reason!r}")
    print(f"agenthost: {sentence}", file=sys.stderr)
    return 1


async def _session(client: AapClient, question: Question, how: TurnOptions) -> Session:
    if question.session is not None:
        return client.session(question.session)
    return await client.create(
        question.agent,
        options=how.get("options"),
        server_tools=how.get("server_tools", ()),
        trusted_tools=how.get("trusted_tools", ()),
    )


def _tell_session(session: Session) -> None:
    if session.is_created:
        print(f"session {session.id}: go on with --session {session.id}", file=sys.stderr)


class _Screen:
    """Shows a turn. Only a terminal gets thoughts, dimmed, and what tools are called."""

    def __init__(self) -> None:
        self.stop_reason = ""
        self._is_dim = False
        self._is_at_start = True

    def show(self, event: SSEEvent) -> None:
        """Show one event, if there is something to show."""
        if event["event"] == "text_delta":
            self._write(event["delta"])
        elif event["event"] == "text":
            self._write(event["text"])
        elif event["event"] == "thinking_delta":
            self._think(event["delta"])
        elif event["event"] == "thinking":
            self._think(event["thinking"])
        elif event["event"] == "tool_call":
            self._tell_call(event)
        elif event["event"] == "turn_stop":
            self.stop_reason = event["stopReason"]

    def end(self) -> None:
        """End the line that is being written."""
        self._undim()
        if not self._is_at_start:
            self._put("\n")

    def _write(self, text: str) -> None:
        self._undim()
        self._put(text)

    def _think(self, text: str) -> None:
        if sys.stdout.isatty():
            if not self._is_dim:
                sys.stdout.write(_DIM)
                self._is_dim = True
            self._put(text)

    def _undim(self) -> None:
        if self._is_dim:
            self._is_dim = False
            sys.stdout.write(_PLAIN)
            self._put("\n")

    def _tell_call(self, call: ToolCall) -> None:
        if sys.stderr.isatty():
            self.end()
            print(f"{_DIM}{_shown(call)}{_PLAIN}", file=sys.stderr)

    def _put(self, text: str) -> None:
        if text:
            self._is_at_start = text.endswith("\n")
            sys.stdout.write(safe(text, sys.stdout))
        sys.stdout.flush()


def _shown(call: ToolCall) -> str:
    text = without_controls(f"{call['name']} {encode_json(call['input']).decode()}")
    return text if len(text) <= LONGEST_INPUT else text[:LONGEST_INPUT] + "…"


async def _decide(call: ToolCall) -> Permission:
    """Ask at the terminal whether the server may run a tool; where there is none, it may not."""
    if not sys.stdin.isatty():
        sentence = "denied, as there is no terminal to ask at; --trust lets it run"
        print(f"agenthost: {_shown(call)}: {sentence}", file=sys.stderr)
        return Permission(granted=False, reason="there is nobody at the terminal who could allow it")
    print(f"Let the server run {_shown(call)}? [y/N] ", end="", file=sys.stderr, flush=True)
    if (await _wait_line()).strip().lower() in ("y", "yes"):
        return Permission(granted=True)
    return Permission(granted=False, reason="the user said no")


async def _wait_line() -> str:
    """Wait for a line from the keyboard: on the loop, so that Ctrl-C ends the wait."""
    loop = asyncio.get_running_loop()
    typed: asyncio.Future[bytes] = loop.create_future()
    keyboard = sys.stdin.fileno()

    def take() -> None:
        loop.remove_reader(keyboard)
        typed.set_result(os.read(keyboard, 4096))

    loop.add_reader(keyboard, take)
    try:
        return (await typed).decode(errors="replace")
    finally:
        loop.remove_reader(keyboard)
