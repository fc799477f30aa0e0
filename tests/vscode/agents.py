"""The agents that VS Code is shown: the demo agent, and one that names no model."""

from agenthost import Agent, Turn
from agenthost.agents.demo import demo

__all__ = ["demo", "plain"]


async def answer(turn: Turn) -> None:
    """Say how long the message is."""
    await turn.say(f"That has {len(turn.text)} characters.")


plain = Agent("plain", answer, title="Plain")
