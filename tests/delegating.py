"""Agents that give tasks to each other, for the tests of edges: `lead`, who has a `worker`."""

import asyncio
from typing import Any

from agenthost import Agent, Call, Turn, tool
from agenthost.tools.subagents import subagent
from ahp_channels import ChannelClient


async def leads(turn: Turn) -> None:
    """Give each line to the worker, all at once."""
    calls = [Call("worker", {"task": line}) for line in turn.text.splitlines()]
    for result in await turn.calls(*calls):
        await turn.say(f"[{result}]")


async def works(turn: Turn) -> None:
    """Do as told."""
    word, _, rest = turn.text.partition(" ")
    if word == "wait":
        await asyncio.Event().wait()
    if word == "fail":
        raise RuntimeError("no")
    if word == "ask":
        await turn.ask("Which colour?")
    if word in ("touch", "worker"):
        (result,) = await turn.calls(Call(word, {"task": rest} if word == "worker" else {}))
        await turn.say(str(result))
        return
    await turn.say(f"did {turn.text}")


@tool
def touch() -> str:
    """Touch something."""
    return "touched"


LEAD = Agent("lead", leads, tools=[subagent("worker")])
WORKER = Agent("worker", works, title="Worker", tools=[touch, subagent("worker")])
AGENTS = (LEAD, WORKER)


def task_entries(me: ChannelClient, uri: str) -> list[Any]:
    """Return the entries of subagents in the catalogue of a session."""
    return [one for one in me.state(uri)["chats"] if one.get("origin", {}).get("kind") == "tool"]
