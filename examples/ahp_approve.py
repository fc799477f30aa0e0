"""A session that was created over AAP is live on AHP: a person approves there what the agent asks for here.

Start a server with `./run serve`, then run this: `./run python examples/ahp_approve.py [AHP_URL AAP_URL]`.
"""

import asyncio
import sys

from agenthost.client import DEFAULT_URL, AapClient, Permission, ToolCall
from agenthost.client.ahp import DEFAULT_AHP_URL, AhpClient, answer_text


async def leave_it_to_others(_call: ToolCall) -> Permission:
    """Never decide: somebody else will."""
    await asyncio.get_running_loop().create_future()
    return Permission(granted=False)


async def main(ahp_url: str, aap_url: str) -> None:
    """Ask over AAP, approve over AHP."""
    async with AapClient(aap_url, permission=leave_it_to_others) as aap, AhpClient(ahp_url) as ahp:
        application = await aap.create("demo", server_tools=["write_file"])
        asking = asyncio.create_task(application.ask("/edit hello.txt Hello from two protocols"))

        session = await ahp.session(f"demo:/{application.id}")
        await session.until(lambda _: session.open_calls)
        call = session.open_calls[0]
        print(f"over AHP: {call['toolName']} wants to run")
        await session.approve(call)
        state = await session.until(lambda state: state.chat["turns"])
        print(f"over AHP: {answer_text(state.chat['turns'][-1])}")

        asking.cancel()
        last = (await application.history())[-1]
        print(f"over AAP: {last['content']}")


asyncio.run(main(*sys.argv[1:] or [DEFAULT_AHP_URL, DEFAULT_URL]))
