"""Two clients in one session see the same: what one does, the other sees at once.

Start a server with `./run serve`, then run this: `./run python examples/ahp_two_clients.py [URL]`.
"""

import asyncio
import sys

from agenthost.client.ahp import DEFAULT_AHP_URL, AhpClient, Session


async def watch(session: Session) -> None:
    """Print what happens to a session, until its turn is over."""
    async for change in session.changes():
        if change.action is None or change.kind != "confirmed":
            continue
        kind = change.action["type"]
        if kind == "session/titleChanged":
            print(f"the phone sees the title: {change.after.session['title']}")
        elif kind == "chat/delta":
            print(f"the phone sees: {change.action['content']!r}")
        elif kind == "chat/turnComplete":
            return


async def main(url: str) -> None:
    """Talk on the laptop, watch on the phone."""
    async with AhpClient(url, name="Laptop") as laptop, AhpClient(url, name="Phone") as phone:
        mine = await laptop.create("demo")
        theirs = await phone.session(mine.uri)
        watching = asyncio.create_task(watch(theirs))
        await mine.rename("Plans")
        print(f"the laptop has: {await mine.ask('Hello there')}")
        await watching
        print(f"both have {len(mine.turns)} turn: {mine.confirmed.chat == theirs.confirmed.chat}")


asyncio.run(main(*sys.argv[1:] or [DEFAULT_AHP_URL]))
