"""A person decides what the agent may do on the server: each call of a tool is asked about.

Start a server with `./run serve`, then run this: `./run python examples/aap_permission.py [URL]`.
"""

import asyncio
import sys

from agenthost.client import DEFAULT_URL, AapClient, Permission, ToolCall


def ask_person(call: ToolCall) -> Permission:
    """Ask on the terminal. Not `async`, so it gets a thread of its own and may wait as long as it takes."""
    print(f"The agent wants to run {call['name']} with {call['input']}. Let it? [y/N] ", end="", flush=True)
    is_granted = sys.stdin.readline().strip() == "y"
    print("yes" if is_granted else "no")
    return Permission(is_granted, None if is_granted else "the user said no")


async def main(url: str) -> None:
    """Let the agent write a file, if the person agrees."""
    async with AapClient(url, permission=ask_person) as client:
        session = await client.create("demo", server_tools=["write_file", "clock"])
        answer = await session.ask("/edit hello.txt Hello from an agent")
        print(answer.text)
        print(f"ended with {answer.stop_reason}")


asyncio.run(main(*sys.argv[1:] or [DEFAULT_URL]))
