"""The agents and tools of the crash tests: one talks, the other is a step function; both follow a script."""

import asyncio
import os
from collections.abc import AsyncIterator, Iterator, Sequence
from pathlib import Path
from typing import Any

from agenthost.agents.model import ModelAgent
from agenthost.core.transcript import Message, host_mark, requested_calls, turn_starts
from agenthost.errors import ToolError
from agenthost.host.authoring.agent import Agent, Model
from agenthost.host.authoring.steps import Call, CallInput, Thought
from agenthost.host.authoring.steps import Stop as StopStep
from agenthost.host.authoring.tool import Tool, ToolContext, tool
from agenthost.host.authoring.turn import Turn
from agenthost.wire.json import encode_json
from crash.script import (
    GATE,
    SHOWN_BYTES,
    Ask,
    Echo,
    Fail,
    Move,
    Say,
    Show,
    Steered,
    Stop,
    Think,
    Use,
    echo_of,
    moves_of,
    pieces,
    usual_result,
)

PAUSE = 0.001
PIECES_PER_PAUSE = 16
MODELS = (Model("small"), Model("large"))

TRUSTED = {"note": True, "look": True, "slow": True, "guarded": True, "big": True, "careful": False}
"""The tools that a session switches on, and whether it trusts them."""

REMOTE: Any = {"name": "remote", "description": "Do it at the client.", "inputSchema": {"type": "object"}}


def write_down(notes: Path, call_id: str, text: str) -> None:
    """Append a line that is there for good, so that whoever runs twice is found out."""
    descriptor = os.open(notes, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    try:
        os.write(descriptor, f"{call_id} {text}\n".encode())
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def make_tools(notes: Path) -> list[Tool]:
    """Make the tools; those that must not run twice write down that they did."""

    @tool
    async def note(text: str, context: ToolContext) -> str:
        """Write something down."""
        write_down(notes, context.call_id, text)
        await asyncio.sleep(2 * PAUSE)
        return usual_result("note", text)

    @tool
    def careful(text: str, context: ToolContext) -> str:
        """Do something that somebody should look at first."""
        write_down(notes, context.call_id, text)
        return usual_result("careful", text)

    @tool(read_only=True)
    def look(text: str) -> str:
        """Look at something."""
        return usual_result("look", text)

    @tool(read_only=True)
    async def slow(text: str, context: ToolContext) -> str:
        """Look at something for a while."""
        for step in range(4):
            await context.progress(f"step {step}")
            await asyncio.sleep(10 * PAUSE)
        return usual_result("slow", text)

    @tool(read_only=True, needs_result_confirmation=True)
    async def guarded(text: str) -> str:
        """Look at something that not everybody should know."""
        return usual_result("guarded", text)

    @tool(idempotent=True)
    async def big(text: str) -> str:
        """Give more than a state can hold."""
        return text + "." * SHOWN_BYTES

    return [note, careful, look, slow, guarded, big]


def make_agents(notes: Path, service: str | None) -> list[Agent]:
    """Make both agents, or in their place one that answers with a model of this service."""
    tools = make_tools(notes)
    if service is not None:
        return [ModelAgent("model", model="gpt-4o", base_url=f"{service}/v1", tools=tools, titles=False)]
    return [
        Agent("talker", talk, tools=tools, models=MODELS),
        Agent("stepper", step, tools=tools, models=MODELS),
    ]


async def talk(turn: Turn) -> None:
    """Answer through the turn, from the top."""
    results: list[str] = []
    for move in moves_of(turn.text):
        match move:
            case Use(calls):
                found = await turn.calls(*(Call(name, {"text": text}) for name, text in calls))
                results = [str(result) for result in found]
            case Echo():
                await _say(turn, echo_of(results))
            case Steered():
                said: Any = await turn.steering()
                await _say(turn, said["content"])
            case Say(text):
                await _say(turn, text)
            case Think(text):
                for piece in pieces(text):
                    await turn.think(piece)
            case Stop():
                turn.stop("max_tokens")
            case _:
                for text in await _other(turn, move):
                    await _say(turn, text)


async def _say(turn: Turn, text: str) -> None:
    for place, piece in enumerate(pieces(text)):
        await turn.say(piece)
        if place % PIECES_PER_PAUSE == 0:
            await turn.sleep(PAUSE)


async def _other(turn: Turn, move: Move) -> list[str]:
    """Do what both agents do in the same way; returns what is to be said of it."""
    match move:
        case Ask(question):
            answers = await turn.ask(question)
            return [] if question == GATE else [answers["answer"]]
        case Show():
            await turn.show(b"." * SHOWN_BYTES)
        case Fail():
            raise ToolError("as planned")
        case _:
            raise AssertionError(move)
    return []


async def step(turn: Turn) -> AsyncIterator[Any]:
    """Answer one step: what comes after the calls that have been made."""
    messages = turn.transcript[turn_starts(turn.transcript)[-1] :]
    with_calls = [message for message in messages if requested_calls(message)]
    for move in _moves_of_step(moves_of(turn.text), len(with_calls)):
        match move:
            case Say(text):
                async for piece in _paced(turn, text):
                    yield piece
            case Echo():
                yield echo_of(_results(messages, with_calls[-1]))
            case Steered():
                yield next(str(one["content"]) for one in messages if host_mark(one).get("steering"))
            case Think() | Use() | Stop():
                for event in _events(move, f"{turn.id}.{len(with_calls)}"):
                    yield event
            case _:
                for text in await _other(turn, move):
                    yield text


def _events(move: Think | Use | Stop, mark: str) -> Iterator[Any]:
    """Return what a step yields for a move; `mark` is what the ids of its calls begin with."""
    match move:
        case Think(thought):
            for piece in pieces(thought):
                yield Thought(piece)
            yield Thought("", {"signature": "kept"})
        case Use(calls):
            for place, (name, text) in enumerate(calls):
                arguments = {"text": text}
                for piece in pieces(encode_json(arguments).decode().replace(":", ": ")):
                    yield CallInput(f"{mark}.{place}", name, piece)
                yield Call(name, arguments, f"{mark}.{place}")
        case Stop():
            yield StopStep("max_tokens")


async def _paced(turn: Turn, text: str) -> AsyncIterator[str]:
    for place, piece in enumerate(pieces(text)):
        yield piece
        if place % PIECES_PER_PAUSE == 0:
            await turn.sleep(PAUSE)


def _moves_of_step(moves: Sequence[Move], done: int) -> list[Move]:
    """Return the moves after so many that use tools, up to and including the next such."""
    ends = [place + 1 for place, move in enumerate(moves) if isinstance(move, Use)]
    begin = ends[done - 1] if done else 0
    return list(moves[begin : ends[done] if done < len(ends) else len(moves)])


def _results(messages: Sequence[Message], asking: Message) -> list[str]:
    told = {one["toolCallId"]: str(one["content"]) for one in messages if one["role"] == "tool"}
    return [told[call["toolCallId"]] for call in requested_calls(asking)]
