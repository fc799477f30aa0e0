"""The agents of the servers that are attacked: they call what they are told to, or attack by themselves."""

import asyncio
import json
import os
import re
import signal

from agenthost import Agent, Call, Option, Turn, tool
from agenthost.tools.mcp import McpServer
from agenthost.tools.subagents import subagent
from agenthost.tools.workspace import workspace_tools

SHOP = os.environ.get("ATTACK_SHOP")
"""Where an MCP server is, if there is one."""


@tool(read_only=True)
async def kill() -> str:
    """End the process, a moment later: what was shown before is on the disk then."""
    await asyncio.sleep(0.5)
    os.kill(os.getpid(), signal.SIGKILL)
    return ""


@tool(read_only=True)
async def freeze() -> str:
    """Hold the interpreter for years."""
    print("frozen", flush=True)
    re.match("(a*)*b", "a" * 60)
    return ""


async def calling(turn: Turn) -> None:
    """Call the tool that the message names, with the JSON after it, and say what came of it."""
    name, _, given = turn.text.partition(" ")
    (result,) = await turn.calls(Call(name, json.loads(given or "{}")))
    await turn.say(f"{'done' if result.ok else 'failed'}: {result}")


async def flooding(turn: Turn) -> None:
    """Say so many pieces of 64 KiB."""
    for _ in range(int(turn.text)):
        await turn.say("x" * 65536)
        await asyncio.sleep(0.005)


async def spawning(turn: Turn) -> None:
    """Have the same done by many others, again and again, and say how many were refused."""
    for _ in range(4):
        results = await turn.calls(*(Call("spawner", {"task": "go on"}) for _ in range(20)))
        await turn.say(f"refused: {sum(not result.ok for result in results)}")


shop = [McpServer("shop", url=SHOP)] if SHOP else []
caller = Agent(
    "caller",
    calling,
    tools=[*workspace_tools(), kill, freeze, *shop],
    options=[Option.secret("password"), Option.text("colour")],
)
flood = Agent("flood", flooding, stream=("none", "delta"))
spawner = Agent("spawner", spawning, tools=[subagent("spawner")])
