"""`agenthost ask`: one question to an agent, and its answer as it arrives.

Only the answer goes to standard output; everything else goes to standard error.
"""

import asyncio
import os
import sys
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field

from agenthost.cli.assignments import read_assignments
from agenthost.cli.exit_codes import UNFINISHED, command_for, exit_on_error, fail
from agenthost.cli.terminal_text import escape_controls, printable, strip_controls
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

MAX_SHOWN = 500
"""How many characters of a tool call are shown."""

MAX_ASKED = 10_000
"""How many are shown to the user who has to approve it."""

_DIM, _PLAIN = "\x1b[2m", "\x1b[0m"


@dataclass(frozen=True, slots=True)
class Question:
    """The arguments of the command line."""

    message: str
    url: str | None = None
    key: str | None = None
    agent: str | None = None
    session: str | None = None
    options: Sequence[str] = field(default_factory=list)
    tools: Sequence[str] = field(default_factory=list)
    trusted: Sequence[str] = field(default_factory=list)
    allows_all: bool = False


def run(question: Question) -> None:
    """Ask, and exit with 0 if the answer is complete, 1 if it is not, 2 if the command makes no sense."""
    with exit_on_error(question.url, unreachable=Unreachable, unauthorized=Unauthorized):
        options = _turn_options(question)
        message = _message(question.message)
        code = asyncio.run(_ask(question, message, options))
    raise SystemExit(code)


def _message(word: str) -> str:
    text = sys.stdin.read().rstrip("\n") if word == "-" else word
    if not text.strip():
        raise ValueError("the message is empty")
    return text


def _turn_options(question: Question) -> TurnOptions:
    """Return the options for the turn.

    Raises:
        ValueError: an option is not of the form NAME=VALUE, or a session was to change its agent.
    """
    if question.session is not None and question.agent is not None:
        raise ValueError("--agent cannot be used with --session: a session keeps its agent")
    return {"options": read_assignments("--option", question.options)} if question.options else {}


async def _ask(question: Question, message: str, options: TurnOptions) -> int:
    screen = _Screen()
    decider = _Decider(screen, allows_all=question.allows_all)
    async with AapClient(question.url, key=question.key or None, permission=decider.decide) as client:
        # A new session is created with the options: if they are wrong, there is no session.
        session = await _session(client, question, options)
        agents = (await client.meta())["agents"]
        decider.known_tools = {tool["name"] for agent in agents for tool in agent.get("tools", [])}
        with ExitStack() as stack:
            stack.callback(_print_session, session, question)
            stack.callback(screen.end)
            async for event in session.send(message, **(options if question.session else {})):
                screen.show(event)
    return _report(screen.stop_reason, decider.not_run)


def _report(reason: str, not_run: Sequence[tuple[str, str]]) -> int:
    """Say what is wrong with the answer, if anything is, and return the exit code."""
    sentences = [f"{tool}: not run, as there is no terminal to ask at; {help_}" for tool, help_ in not_run]
    # An error that follows from a tool that was not run says less than that.
    if reason != "end_turn" and not (reason == "error" and not_run):
        sentences.append(UNFINISHED.get(reason, f"the turn ended with {reason!r}"))
    for sentence in sentences:
        print(f"agenthost: {printable(sentence, sys.stderr)}", file=sys.stderr)
    return 1 if sentences else 0


async def _session(client: AapClient, question: Question, options: TurnOptions) -> Session:
    if question.session is not None:
        session = client.session(question.session)
        await _resume(session, question, options)
        return session
    options |= _enabled_tools(question, await _agent_tools(client, question.agent))
    return await client.create(
        question.agent,
        options=options.get("options"),
        server_tools=options.get("server_tools", ()),
        trusted_tools=options.get("trusted_tools", ()),
    )


async def _resume(session: Session, question: Question, options: TurnOptions) -> None:
    """Look at the session first, so that a wrong id is noticed before anything is sent."""
    try:
        agent = (await session.info())["agent"]
    except NotFound as error:
        fail(f"{error}; to list the sessions: {command_for(question.url, 'sessions list')}")
    if question.tools or question.trusted:
        tools = {tool["name"]: tool.get("trust", False) for tool in agent.get("tools", [])}
        options |= _enabled_tools(question, tools)


async def _agent_tools(client: AapClient, name: str | None) -> dict[str, bool]:
    """Return the agent's tools, none of them trusted. That the agent exists, `create` checks."""
    agents = (await client.meta())["agents"]
    meant = [agent for agent in agents if name is None or agent["name"] == name]
    return {tool["name"]: False for agent in meant[:1] for tool in agent.get("tools", [])}


def _enabled_tools(question: Question, known: Mapping[str, bool]) -> TurnOptions:
    """Return the tools to enable: those of `--tool`, or all that are known, and those of `--trust`."""
    chosen = dict.fromkeys(question.tools, False) if question.tools else dict(known)
    chosen |= dict.fromkeys(question.trusted, True)
    return {
        "server_tools": [name for name, is_trusted in chosen.items() if not is_trusted],
        "trusted_tools": [name for name, is_trusted in chosen.items() if is_trusted],
    }


def _print_session(session: Session, question: Question) -> None:
    if session.is_created:
        command = command_for(question.url, f"ask --session {session.id}")
        print(f"session {session.id}: continue with {command}", file=sys.stderr)


class _Screen:
    """Shows a turn. Thoughts, dimmed, and tool calls are shown at a terminal only."""

    def __init__(self) -> None:
        self.stop_reason = ""
        self._is_dim = False
        self._is_at_start = True

    def show(self, event: SSEEvent) -> None:
        """Show one event, if there is something to show of it."""
        if event["event"] == "text_delta":
            self._write(event["delta"])
        elif event["event"] == "text":
            self._write(event["text"])
        elif event["event"] == "thinking_delta":
            self._think(event["delta"])
        elif event["event"] == "thinking":
            self._think(event["thinking"])
        elif event["event"] == "tool_call":
            self._show_call(event)
        elif event["event"] == "turn_stop":
            self.stop_reason = event["stopReason"]

    def end(self) -> None:
        """End the line, if one is being written."""
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

    def _show_call(self, call: ToolCall) -> None:
        if sys.stderr.isatty():
            self.end()
            print(f"{_DIM}{_shown(call)}{_PLAIN}", file=sys.stderr)

    def _put(self, text: str) -> None:
        if text:
            self._is_at_start = text.endswith("\n")
            sys.stdout.write(printable(text, sys.stdout))
        sys.stdout.flush()


class _Decider:
    """Decides whether a tool may run that is not trusted.

    Attributes:
        known_tools: the names of the tools that the server lists, which `--trust` accepts.
        not_run: the calls that nobody could be asked about, each with what would help.
    """

    def __init__(self, screen: _Screen, *, allows_all: bool) -> None:
        self.known_tools: set[str] = set()
        self.not_run: list[tuple[str, str]] = []
        self._screen = screen
        self._allows_all = allows_all

    async def decide(self, call: ToolCall) -> Permission:
        """Ask at the terminal whether the server may run a tool; without a terminal, it may not."""
        if self._allows_all:
            return Permission(granted=True)
        self._screen.end()
        if not (sys.stdin.isatty() and sys.stderr.isatty()):
            by_name = f"--trust {call['name']}, or " if call["name"] in self.known_tools else ""
            self.not_run.append((_shown(call), f"add {by_name}--yes to allow every call"))
            return Permission(granted=False, reason="there is nobody at the terminal who could allow it")
        print(f"Let the server run {_asked(call)}[y/N] ", end="", file=sys.stderr, flush=True)
        if (await _wait_line()).strip().lower() in ("y", "yes"):
            return Permission(granted=True)
        return Permission(granted=False, reason="the user said no")


def _shown(call: ToolCall, limit: int = MAX_SHOWN) -> str:
    text = strip_controls(f"{call['name']} {encode_json(call['input']).decode()}")
    return text if len(text) <= limit else text[:limit] + f"… ({len(text) - limit} more characters)"


def _asked(call: ToolCall) -> str:
    """Return what would run: a command as it is typed in a shell, anything else as JSON."""
    command = call["input"].get("command")
    if not isinstance(command, str) or not command.strip():
        return f"{_shown(call, MAX_ASKED)}? "
    rest: ToolCall = {**call, "input": {**call["input"]}}
    del rest["input"]["command"]
    given = _shown(rest, MAX_ASKED) if rest["input"] else strip_controls(call["name"])
    lines = escape_controls(command).split("\n")
    return "\n".join([f"{given}?", f"  $ {lines[0]}", *(f"    {line}" for line in lines[1:]), ""])


async def _wait_line() -> str:
    """Wait for a line from the keyboard, on the event loop: Ctrl-C then ends the wait."""
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
