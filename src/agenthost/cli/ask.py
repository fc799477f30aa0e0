"""`agenthost ask`: one question to an agent, and its answer on the terminal as it comes.

The answer alone goes to the standard output; what else there is to say goes to the standard error.
"""

import asyncio
import os
import sys
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field

from agenthost.cli.ending import STOPS, command_for, fail, plain_ends, safe, visible, without_controls
from agenthost.cli.pairs import read_pairs
from agenthost.client import (
    AapClient,
    NotFound,
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

MAX_ASKED = 10_000
"""How much of it is shown to whoever has to decide."""

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
    is_trusting: bool = False


def run(question: Question) -> None:
    """Ask, and end with 0 if the answer is whole, 1 if it is not, 2 if the question makes no sense."""
    with plain_ends(question.url, unreachable=Unreachable, unauthorized=Unauthorized):
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
    return {"options": read_pairs("--option", question.options)} if question.options else {}


async def _ask(question: Question, message: str, how: TurnOptions) -> int:
    screen = _Screen()
    decider = _Decider(screen, is_trusting=question.is_trusting)
    async with AapClient(question.url, key=question.key or None, permission=decider.decide) as client:
        # A new session is made with what is set: if that is wrong, none is made.
        session = await _session(client, question, how)
        agents = (await client.meta())["agents"]
        decider.shown = {tool["name"] for agent in agents for tool in agent.get("tools", [])}
        with ExitStack() as stack:
            stack.callback(_tell_session, session, question)
            stack.callback(screen.end)
            async for event in session.send(message, **(how if question.session else {})):
                screen.show(event)
    return _ended(screen.stop_reason, decider.not_run)


def _ended(reason: str, not_run: Sequence[tuple[str, str]]) -> int:
    """Say what is wrong with the answer, if anything is; returns the exit code."""
    sentences = [f"{tool}: not run, as there is no terminal to ask at; {help_}" for tool, help_ in not_run]
    # An error after that is what came of it, and says less.
    if reason != "end_turn" and not (reason == "error" and not_run):
        sentences.append(STOPS.get(reason, f"the turn ended with {reason!r}"))
    for sentence in sentences:
        print(f"agenthost: {safe(sentence, sys.stderr)}", file=sys.stderr)
    return 1 if sentences else 0


async def _session(client: AapClient, question: Question, how: TurnOptions) -> Session:
    if question.session is not None:
        session = client.session(question.session)
        await _take_up(session, question, how)
        return session
    how |= _chosen(question, await _tools_of(client, question.agent))
    return await client.create(
        question.agent,
        options=how.get("options"),
        server_tools=how.get("server_tools", ()),
        trusted_tools=how.get("trusted_tools", ()),
    )


async def _take_up(session: Session, question: Question, how: TurnOptions) -> None:
    """Look at the session first, so that one that is not there is told at once."""
    try:
        agent = (await session.info())["agent"]
    except NotFound as error:
        fail(f"{error}; {command_for(question.url, 'sessions list')} shows which there are")
    if question.tools or question.trusted:
        how |= _chosen(question, {tool["name"]: tool.get("trust", False) for tool in agent.get("tools", [])})


async def _tools_of(client: AapClient, name: str | None) -> dict[str, bool]:
    """Return the tools that the agent shows, none of them trusted. Which agent, `create` finds out."""
    agents = (await client.meta())["agents"]
    meant = [agent for agent in agents if name is None or agent["name"] == name]
    return {tool["name"]: False for agent in meant[:1] for tool in agent.get("tools", [])}


def _chosen(question: Question, there: Mapping[str, bool]) -> TurnOptions:
    """Return the tools to switch on: those of `--tool`, or all that are there, and those of `--trust`."""
    chosen = dict.fromkeys(question.tools, False) if question.tools else dict(there)
    chosen |= dict.fromkeys(question.trusted, True)
    return {
        "server_tools": [name for name, is_trusted in chosen.items() if not is_trusted],
        "trusted_tools": [name for name, is_trusted in chosen.items() if is_trusted],
    }


def _tell_session(session: Session, question: Question) -> None:
    if session.is_created:
        command = command_for(question.url, f"ask --session {session.id}")
        print(f"session {session.id}: go on with {command}", file=sys.stderr)


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


class _Decider:
    """Decides about the tools that are not trusted.

    Attributes:
        shown: the names of the tools that the server shows, so that they can be trusted by name.
        not_run: the calls about which nobody could be asked, each with what would help.
    """

    def __init__(self, screen: _Screen, *, is_trusting: bool) -> None:
        self.shown: set[str] = set()
        self.not_run: list[tuple[str, str]] = []
        self._screen = screen
        self._is_trusting = is_trusting

    async def decide(self, call: ToolCall) -> Permission:
        """Ask at the terminal whether the server may run a tool; where there is none, it may not."""
        if self._is_trusting:
            return Permission(granted=True)
        self._screen.end()
        if not (sys.stdin.isatty() and sys.stderr.isatty()):
            by_name = f"--trust {call['name']}, or " if call["name"] in self.shown else ""
            self.not_run.append((_shown(call), f"add {by_name}--yes to allow every call"))
            return Permission(granted=False, reason="there is nobody at the terminal who could allow it")
        print(f"Let the server run {_asked(call)}[y/N] ", end="", file=sys.stderr, flush=True)
        if (await _wait_line()).strip().lower() in ("y", "yes"):
            return Permission(granted=True)
        return Permission(granted=False, reason="the user said no")


def _shown(call: ToolCall, most: int = LONGEST_INPUT) -> str:
    text = without_controls(f"{call['name']} {encode_json(call['input']).decode()}")
    return text if len(text) <= most else text[:most] + f"… ({len(text) - most} more characters)"


def _asked(call: ToolCall) -> str:
    """Show what would run: a command as one would type it, all else as it is."""
    command = call["input"].get("command")
    if not isinstance(command, str) or not command.strip():
        return f"{_shown(call, MAX_ASKED)}? "
    rest: ToolCall = {**call, "input": {**call["input"]}}
    del rest["input"]["command"]
    given = _shown(rest, MAX_ASKED) if rest["input"] else without_controls(call["name"])
    lines = visible(command).split("\n")
    return "\n".join([f"{given}?", f"  $ {lines[0]}", *(f"    {line}" for line in lines[1:]), ""])


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
