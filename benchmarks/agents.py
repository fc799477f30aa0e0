"""Agents that cost almost nothing, to measure everything else: `./run serve benchmarks/agents.py`."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

from agenthost.host.authoring.agent import Agent
from agenthost.host.authoring.options import Option
from agenthost.host.authoring.steps import Call
from agenthost.host.authoring.tool import tool
from agenthost.host.authoring.turn import Turn

DELTA = "hello world "


async def answer(turn: Turn) -> None:
    """Say `hello world` as often as the option `deltas` says; `holdMs` after the first there is a pause."""
    count, hold = int(turn.options["deltas"]), int(turn.options["holdMs"])
    is_ticking = turn.options["tick"] == "1"
    for place in range(count):
        await turn.say(DELTA)
        if place == 0 and hold:
            await asyncio.sleep(hold / 1_000)
        if is_ticking:
            await asyncio.sleep(0)


async def step(turn: Turn) -> AsyncIterator[Any]:
    """Call the tool that the message names, else the first that there is; then answer."""
    last = turn.messages[-1]
    names = [definition["name"] for definition in turn.tools]
    if last["role"] == "user" and names:
        yield Call(turn.text if turn.text in names else names[0], {})
    else:
        yield "done"


@tool(title="Noop", read_only=True)
async def noop() -> str:
    """Do nothing."""
    return "nothing done"


@tool(title="Once")
async def once() -> str:
    """Do nothing, but say that it may not be done twice."""
    return "done once"


bench = Agent(
    "bench",
    answer,
    options=(
        Option.text("deltas", "1", description="How often it speaks in a turn."),
        Option.text("holdMs", "0", description="How long it pauses after the first time."),
        Option.select("tick", ("0", "1"), description="Whether it lets others run after each."),
    ),
)
bench_tool = Agent("bench-tool", step, tools=(noop, once))
