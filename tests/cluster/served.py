"""The agents that the nodes serve: those of the crash tests, and one that takes its time."""

import os
from pathlib import Path

from agenthost import Agent, Turn
from crash.agents import make_agents


async def tick(turn: Turn) -> None:
    """Say a word every now and then, as often as the message says."""
    for word in range(int(turn.text)):
        await turn.say(f"{word} ")
        await turn.sleep(0.02)


talker, stepper = make_agents(Path(os.environ["CLUSTER_NOTES"]), None)
ticker = Agent("ticker", tick)
