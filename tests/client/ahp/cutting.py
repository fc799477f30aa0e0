"""A client whose connection is cut again and again, anywhere: nothing is lost or applied twice.

The long form: `PYTHONPATH=tests python -m client.ahp.cutting --cuts 1000 [--seed 7]`.
"""

import argparse
import asyncio
import random
import tempfile
from pathlib import Path
from typing import Any

from aap_servers import demo_server
from agenthost.client.ahp import AhpClient, Backoff, Session
from agenthost.wire.json import encode_json
from client.ahp.proxies import Proxy, proxied

QUICK = Backoff(initial=0.005, maximum=0.02)


def comparable(state: Any) -> bytes:
    """Return the states of a session and its chat as bytes."""
    return encode_json(list(state))


async def host_state(server: str, uri: str) -> Any:
    """Return the state that the host has, over a connection that is not cut."""
    async with AhpClient(f"{server}/ahp") as client:
        return (await client.session(uri)).confirmed


class Story:
    """A client that does all kinds of things while its connection is cut."""

    def __init__(self, server: str, proxy: Proxy, seed: int) -> None:
        self._server = server
        self._proxy = proxy
        self._chance = random.Random(seed)  # noqa: S311
        self.said: list[str] = []
        self.marked: list[int] = []
        self.titles: list[str] = []
        self._rounds = 0

    def mark(self, number: int) -> str:
        """Remember a number."""
        self.marked.append(number)
        return f"marked {number}"

    async def run(self, cuts: int) -> None:
        """Go on until there were so many cuts; then check everything."""
        async with AhpClient(f"{self._proxy.url}/ahp", backoff=QUICK) as client:
            session = await client.create("demo", tools=[self.mark])
            session.listen(self._note_title)
            # Some connections die in the handshake, some live for several turns.
            self._proxy.budget = lambda: int(
                self._chance.choice([800, 4_000, 60_000]) * self._chance.random()
            )
            self._proxy.cut()
            while self._proxy.cuts < cuts:
                await self._round(session)
            self._proxy.budget = lambda: None
            self._proxy.cut()
            await self._check(session)
            await self._check_list(client, session)

    def _note_title(self, change: Any) -> None:
        if change.kind == "confirmed" and change.action["type"] == "session/titleChanged":
            self.titles.append(change.action["title"])

    async def _round(self, session: Session) -> None:
        self._rounds += 1
        number = self._rounds
        kind = self._chance.randrange(4)
        if kind == 0:
            await self._say(session, f"hello {number} ü", f"You said: hello {number} ü")
        elif kind == 1:
            await self._say(session, "/stream 60", "hello world " * 60)
        elif kind == 2:
            session.rename(f"not the last {number}")
            await session.rename(f"title {number}")
        else:
            await self._call(session, number)

    async def _say(self, session: Session, text: str, expected: str) -> None:
        pieces = [piece async for piece in session.say(text)]
        assert "".join(pieces) == expected
        self.said.append(text)

    async def _call(self, session: Session, number: int) -> None:
        before = len(self.marked)
        text = f'/call mark {{"number": {number}}}'
        answer = await session.ask(text)
        self.said.append(text)
        # Between losing a connection and coming back the agent has no such tool.
        if answer == f"mark -> marked {number}":
            assert self.marked[before:] == [number]
        else:
            assert self.marked[before:] == []
            assert "mark -> " in answer

    async def _check(self, session: Session) -> None:
        await session.rename("the last")
        told = [turn["message"]["text"] for turn in session.confirmed.chat["turns"]]
        assert told == self.said
        assert len(self.marked) == len(set(self.marked))
        renamed = [title for title in self.titles if title.startswith("title ")]
        assert len(renamed) == len(set(renamed))
        # The host may have taken away the active role; the client claims it again.
        await session.until(lambda state: state.session["activeClients"])
        assert session._replica.pending(session.uri) == []
        assert session.state == session.confirmed
        host = comparable(await host_state(self._server, session.uri))
        mine = comparable(session.confirmed)
        assert mine == host, f"{mine.decode()}\n\n{host.decode()}"

    async def _check_list(self, client: AhpClient, session: Session) -> None:
        listed = {one["resource"]: one["title"] for one in await client.sessions.load()}
        assert listed[session.uri] == "the last"


async def cut_again_and_again(server: str, cuts: int, seed: int) -> Story:
    """Run the story against a server."""
    async with proxied(server) as proxy:
        story = Story(server, proxy, seed)
        await story.run(cuts)
        return story


def main() -> None:
    """Run the story from the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cuts", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=7)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, demo_server(Path(folder)) as server:
        story = asyncio.run(cut_again_and_again(server, given.cuts, given.seed))
    print(
        f"{given.cuts} cuts: {len(story.said)} turns, {len(story.marked)} calls, nothing lost, nothing twice"
    )


if __name__ == "__main__":
    main()
