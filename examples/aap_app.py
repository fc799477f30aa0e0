"""An application that talks to an agent over AAP and brings its own tool.

Start a server with `./run serve`, then run this: `./run python examples/aap_app.py [URL]`.
"""

import asyncio
import sys

from agenthost.client import DEFAULT_URL, AapClient, ToolError

STOCK = {"apples": 12, "pears": 0}


async def count(fruit: str) -> int:
    """Count what is left of a fruit.

    Args:
        fruit: its name, in the plural.
    """
    if fruit not in STOCK:
        raise ToolError(f"we do not sell {fruit}")
    return STOCK[fruit]


async def main(url: str) -> None:
    """Ask twice: once for the whole answer, once for its pieces as they come."""
    async with AapClient(url) as client:
        session = await client.create("demo", tools=[count], trusted_tools=["add"])
        answer = await session.ask('/call count {"fruit": "apples"} && count {"fruit": "kiwis"}')
        print(answer.text)

        async for event in session.send('/call add {"a": 12, "b": 30}'):
            if event["event"] == "text_delta":
                print(event["delta"], end="", flush=True)
            elif event["event"] == "tool_call":
                print(f"[{event['name']}]")
        print()


asyncio.run(main(*sys.argv[1:] or [DEFAULT_URL]))
