"""The agents of the sessions in these stores. They run with every agenthost that made one, and with this."""

import asyncio

from agenthost import Agent, Call, Turn
from agenthost.agents.demo import demo
from agenthost.tools.subagents import subagent

__all__ = ["demo", "failing", "lead", "slow"]


async def delegate(turn: Turn) -> None:
    """Give the whole task to the demo agent."""
    for result in await turn.calls(Call("demo", {"task": turn.text})):
        await turn.say(str(result))


class Slow(Agent):
    """Never gets ready for a session."""

    async def prepare(self, session: str) -> None:
        await asyncio.Event().wait()


class Failing(Agent):
    """Cannot get ready for a session."""

    async def prepare(self, session: str) -> None:
        raise RuntimeError("no room")


lead = Agent("lead", delegate, tools=[subagent("demo")])
slow = Slow("slow", delegate)
failing = Failing("failing", delegate)
