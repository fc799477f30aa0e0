"""An agent made of a function of text, which returns its answer at once or yields it in pieces.

`./run serve examples/text_agent.py`
"""

from collections.abc import AsyncIterator

from agenthost.agents.adapters import TextAgent


async def backwards(text: str) -> AsyncIterator[str]:
    """Say the words of the user in the other order."""
    for word in reversed(text.split()):
        yield f"{word} "


agent = TextAgent("backwards", backwards)
