"""An agent that calls what it is told to, for the tests of servers' tools."""

import json
from typing import Any

from agenthost.host.authoring.agent import Agent
from agenthost.host.authoring.steps import Call
from agenthost.host.authoring.turn import Turn


async def calling(turn: Turn) -> None:
    """Call the tool that the message names, with the JSON after it, and say what came of it."""
    name, _, given = turn.text.partition(" ")
    (result,) = await turn.calls(Call(name, json.loads(given or "{}")))
    await turn.say(f"{'done' if result.ok else 'failed'}: {result}")


def caller(*tools: Any, name: str = "demo") -> Agent:
    """Make an agent that has these tools."""
    return Agent(name, calling, tools=tools)
