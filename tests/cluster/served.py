"""The agents that the nodes serve: those of the crash tests, and one that takes its time."""

import os
from pathlib import Path

from agenthost import Agent, Turn
from agenthost.host.storage.postgres import migrations
from crash.agents import make_agents


async def tick(turn: Turn) -> None:
    """Say a word every now and then, as often as the message says."""
    for word in range(int(turn.text)):
        await turn.say(f"{word} ")
        await turn.sleep(0.02)


# That of the version before, for some of the nodes.
migrations.LEVEL = int(os.environ.get("CLUSTER_LEVEL", migrations.LEVEL))
talker, stepper = make_agents(Path(os.environ["CLUSTER_NOTES"]), None)
ticker = Agent("ticker", tick)
