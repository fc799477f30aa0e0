"""The agent of the power cuts: what it says follows from the question, so that it says the same again."""

from agenthost.host.authoring.agent import Agent
from agenthost.host.authoring.turn import Turn

PIECES = 40
PAUSE = 0.002


async def tell(turn: Turn) -> None:
    """Say as many words as every turn has."""
    for place in range(PIECES):
        await turn.say(f"{turn.text}:{place} ")
        if place % 8 == 0:
            await turn.sleep(PAUSE)


teller = Agent("teller", tell)
