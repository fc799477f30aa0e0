"""A person decides, call by call, which tools the agent may run on the server.

Start a server with `./run serve`, then run this: `./run python examples/aap_permission.py [URL]`.
"""

import asyncio
import sys

from agenthost.client import DEFAULT_URL, AapClient, Permission, ToolCall


def ask_person(call: ToolCall) -> Permission:
    """Ask on the terminal. It is not `async`, so it runs in a thread of its own and may block."""
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
