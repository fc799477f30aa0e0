"""Somebody who watches a terminal and types into it, for the tests of terminals. Nothing here sleeps."""

import asyncio
import itertools
from collections.abc import Callable
from pathlib import Path
from typing import Any

from agenthost.core.reducers import Live, reduce_terminal
from agenthost.host.access.identity import Identity
from agenthost.host.host import Host
from agenthost.host.log.subscriptions import LogItem
from agenthost.host.state.feed import Feed, View
from agenthost.host.state.session import Session
from agenthost.wire.json import decode_json
from hosting import chat_of

URI = "term:/1"

_numbers = itertools.count(1_000_000)  # apart from those of `talking`: a client may be in both


def claim_of(client_id: str) -> Any:
    """Return the claim of a client."""
    return {"kind": "client", "clientId": client_id}


def session_claim(uri: str) -> Any:
    """Return the claim of a session of which nothing but its URI is known, by its default chat."""
    return {"kind": "session", "session": uri, "chat": chat_of(uri)}


def claim_of_session(session: Session) -> Any:
    """Return the claim of a session, by its default chat."""
    return {"kind": "session", "session": session.uri, "chat": session.chat_uri}


class Watch:
    """A client of one terminal. Its own copy of the state is made of the snapshot and the envelopes alone."""

    def __init__(self, host: Host, feed: Feed, uri: str, client_id: str) -> None:
        self.host = host
        self.feed = feed
        self.uri = uri
        self.client_id = client_id
        self.envelopes: list[Any] = []
        self._live: Live[Any] = Live({})
        self.last_seen = 0

    @classmethod
    async def start(cls, host: Host, command: Any = None, uri: str = URI, **wishes: Any) -> "Watch":
        """Start a terminal, and watch it."""
        await host.parts.terminals.create(uri, claim_of("me"), command=command, **wishes)
        return await cls.join(host, uri)

    @classmethod
    async def join(cls, host: Host, uri: str = URI, client_id: str = "me") -> "Watch":
        """Watch a terminal that is there."""
        self = cls(host, host.parts.engine.feed(Identity(client_id)), uri, client_id)
        self.load(await self.feed.subscribe(uri))
        return self

    def load(self, view: View) -> None:
        """Take a fresh view."""
        if view.uri == self.uri:
            self._live = Live(view.state)
        self.last_seen = max(self.last_seen, view.seq)

    def apply(self, envelope: bytes) -> None:
        """Take one envelope."""
        decoded = decode_json(envelope)
        self.envelopes.append(decoded)
        if decoded["channel"] == self.uri and "rejectionReason" not in decoded:
            self._live = reduce_terminal(self._live, decoded["action"])
        self.last_seen = max(self.last_seen, decoded["serverSeq"])

    @property
    def state(self) -> Any:
        return self._live.state

    @property
    def text(self) -> str:
        """All that the terminal shows."""
        return "".join(part.get("output", part.get("value")) for part in self.state["content"])

    @property
    def commands(self) -> list[Any]:
        """The commands, as the state has them."""
        return [part for part in self.state["content"] if part["type"] == "command"]

    @property
    def kinds(self) -> list[str]:
        """The types of the actions so far."""
        return [envelope["action"]["type"].removeprefix("terminal/") for envelope in self.envelopes]

    async def hear(self) -> None:
        """Take what waits, or wait for it."""
        for item in await self.feed.subscriber.wait_next():
            for envelope in item.envelopes():
                self.apply(envelope)

    async def until(self, look: Callable[["Watch"], Any]) -> Any:
        """Listen until this is so; returns what `look` gave."""
        while not (found := look(self)):
            await self.hear()
        return found

    async def until_text(self, text: str) -> None:
        """Listen until the terminal shows this."""
        await self.until(lambda watch: text in watch.text)

    async def until_exit(self) -> int | None:
        """Listen to the end; returns the exit code."""
        await self.until(lambda watch: "exited" in watch.kinds)
        code: int | None = self.state["lifecycle"].get("exitCode")
        return code

    async def act(self, kind: str, **fields: Any) -> LogItem | None:
        """Dispatch an action; returns the refusal."""
        action = {"type": f"terminal/{kind}", **fields}
        return await self.host.client(Identity(self.client_id)).dispatch(next(_numbers), self.uri, action)

    async def type(self, text: str) -> None:
        """Type this."""
        assert await self.act("input", data=text) is None

    async def resume(self) -> Any:
        """Leave, and come back with what was seen last; returns what came of it."""
        self.feed.close()
        return await self.come_back()

    async def come_back(self, *more: str) -> Any:
        """Come back with what was seen last, for this terminal and for more."""
        self.feed = self.host.parts.engine.feed(Identity(self.client_id))
        resumed = await self.feed.resume(self.last_seen, [self.uri, *more])
        for view in resumed.views:
            self.load(view)
        for entry in resumed.replay or []:
            self.apply(entry.envelope)
        return resumed


def is_alive(pid: int) -> bool:
    """Return whether a process runs; one that has ended and was not taken away does not."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return False
    return stat.rpartition(")")[2].split()[0] not in "ZX"


async def until_so(look: Callable[[], Any]) -> None:
    """Wait until something outside is so, which nobody tells."""
    loop = asyncio.get_running_loop()
    while not look():
        moment: asyncio.Future[None] = loop.create_future()
        loop.call_later(0.01, moment.set_result, None)
        await moment
