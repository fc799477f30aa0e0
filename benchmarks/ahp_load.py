"""The load for AHP: WebSocket connections that count what they receive, as cheaply as Python can.

A process of its own. It reads plans from standard input, each one line of JSON, runs them, and answers each
with one line.
"""

import asyncio
import json
import re
import sys
import time
from dataclasses import dataclass
from typing import Any, cast

import uvloop

STAMP = re.compile(rb"@([0-9.]+);")
SEEN = re.compile(rb'"fromSeq":([0-9]+)')
HELLO = (
    "GET /ahp HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
    "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n"
)


def frame(message: Any) -> bytes:
    """Return a message as a masked frame; with a mask of nothing, which costs nothing."""
    data = json.dumps(message).encode()
    size = len(data)
    head = bytes([0x81, 0x80 | size]) if size < 126 else b"\x81\xfe" + size.to_bytes(2)
    return head + b"\0\0\0\0" + data


def request(number: int, method: str, **params: Any) -> bytes:
    """Return a request as a frame."""
    return frame({"jsonrpc": "2.0", "id": number, "method": method, "params": params})


class Client(asyncio.Protocol):
    """Counts how often a mark comes, and keeps the last bytes for those who look for more."""

    def __init__(self) -> None:
        self.loop = asyncio.get_running_loop()
        self.seen = self.bytes = 0
        self.newest = b""
        self.stamps: list[tuple[float, bytes]] = []
        self.keeps_stamps = False
        self._mark = b"HTTP/1.1 101"
        self._goal = 1
        self._rest = b""
        self.met: asyncio.Future[None] = self.loop.create_future()
        self.transport: asyncio.Transport

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Begin."""
        self.transport = cast("asyncio.Transport", transport)
        self.transport.write(HELLO.encode())

    def expect(self, mark: bytes, goal: int = 1) -> "asyncio.Future[None]":
        """Wait until a mark has come so often, from now on."""
        self._mark, self._goal, self._rest = mark, goal, b""
        self.seen = self.bytes = 0
        self.met = self.loop.create_future()
        return self.met

    def data_received(self, data: bytes) -> None:
        """Count."""
        self.newest = data
        self.bytes += len(data)
        data = self._rest + data
        found = data.count(self._mark)
        self.seen += found
        if self.keeps_stamps:
            now = time.monotonic()
            self.stamps += [(now, stamp) for stamp in STAMP.findall(data)]
        # What is left is too short to hold a mark that was counted.
        self._rest = data[-(len(self._mark) - 1) :] if not self.keeps_stamps else b""
        if self.seen >= self._goal and not self.met.done():
            self.met.set_result(None)


async def connected(port: int, count: int) -> list[Client]:
    """Make connections."""
    loop = asyncio.get_running_loop()
    clients = []
    for _ in range(count):
        _, client = await loop.create_connection(Client, "127.0.0.1", port)
        clients.append(client)
    await asyncio.gather(*(client.met for client in clients))
    return clients


async def ask(client: Client, number: int, method: str, **params: Any) -> None:
    """Ask, and wait for the answer."""
    answer = client.expect(f'"id":{number}'.encode())
    client.transport.write(request(number, method, **params))
    await answer


@dataclass(frozen=True)
class Dialect:
    """How a version of AHP says things: where sessions and terminals stand, and what turns are called."""

    version: str = "1.0.0"
    root: str = "ahp-root://"
    scope: str = "chat"
    session: str = "channel"
    terminal: str = "channel"

    @property
    def delta(self) -> bytes:
        """What every delta has."""
        return f'"{self.scope}/delta"'.encode()

    @property
    def complete(self) -> bytes:
        """What the end of every turn has."""
        return f'"{self.scope}/turnComplete"'.encode()

    async def open(self, client: Client, name: str, *uris: str) -> None:
        """Open a connection with these subscriptions."""
        begin = {"protocolVersions": [self.version], "clientId": name, "initialSubscriptions": list(uris)}
        await ask(client, 1, "initialize", channel=self.root, **begin)

    def follows(self, uri: str) -> str:
        """Return where the turns of a session are followed."""
        return f"ahp-chat:/{uri.partition(':/')[2]}"

    def turn(self, uri: str, seq: int, text: str) -> bytes:
        """Return the frame that starts a turn."""
        message = {"text": text, "origin": {"kind": "user"}}
        action = {"type": "chat/turnStarted", "turnId": f"t{seq}", "message": message}
        return dispatched(seq, {"startedAt": "2026-01-01T00:00:00.000Z", **action}, channel=self.follows(uri))

    def input(self, uri: str, data: str) -> bytes:
        """Return the frame that types into a terminal."""
        return dispatched(1, {"type": "terminal/input", "data": data}, channel=uri)


@dataclass(frozen=True)
class OldDialect(Dialect):
    """As AHP 0.1 says it."""

    version: str = "0.1.0"
    root: str = "agenthost:/root"
    scope: str = "session"
    session: str = "session"
    terminal: str = "terminal"

    def follows(self, uri: str) -> str:
        """Return where the turns of a session are followed: there are no chats."""
        return uri

    def turn(self, uri: str, seq: int, text: str) -> bytes:
        """Return the frame that starts a turn."""
        action = {"type": "session/turnStarted", "session": uri, "turnId": f"t{seq}"}
        return dispatched(seq, {**action, "userMessage": {"text": text}})

    def input(self, uri: str, data: str) -> bytes:
        """Return the frame that types into a terminal."""
        return dispatched(1, {"type": "terminal/input", "terminal": uri, "data": data})


DIALECTS = {"1.0": Dialect(), "0.1": OldDialect()}


def dispatched(seq: int, action: Any, **more: Any) -> bytes:
    """Return an action as a frame."""
    params = {"clientSeq": seq, "action": action, **more}
    return frame({"jsonrpc": "2.0", "method": "dispatchAction", "params": params})


class Plans:
    """What can be done, by kind."""

    def __init__(self) -> None:
        self.dialect = DIALECTS["1.0"]
        self._names = iter(range(10**9))
        self._held: list[Client] = []

    def _uri(self) -> str:
        return f"bench:/{time.time_ns()}-{next(self._names)}"

    async def _author(self, port: int, count: int = 1) -> tuple[Client, list[str]]:
        (author,) = await connected(port, 1)
        await self.dialect.open(author, f"author{next(self._names)}")
        uris = [self._uri() for _ in range(count)]
        for number, uri in enumerate(uris):
            about: Any = {self.dialect.session: uri}
            await ask(author, 100 + number, "createSession", **about, provider="bench")
        return author, uris

    async def _follow(self, client: Client, uri: str) -> None:
        where: Any = {"resource" if self.dialect.version == "0.1.0" else "channel": uri}
        await ask(client, 3, "subscribe", **where)

    async def turn(self, plan: Any) -> Any:
        """Let a turn stream to many."""
        author, (uri,) = await self._author(plan["port"])
        clients = await connected(plan["port"], plan["connections"])
        for number, client in enumerate(clients):
            await self.dialect.open(client, f"c{number}", self.dialect.follows(uri))
        waits = [client.expect(self.dialect.delta, plan["deltas"]) for client in clients]
        begun = time.perf_counter()
        author.transport.write(self.dialect.turn(uri, 1, f"{plan['deltas']} 0"))
        await asyncio.gather(*waits)
        return self._over([author, *clients], seconds=time.perf_counter() - begun)

    async def turns(self, plan: Any) -> Any:
        """Have one short turn after the other, in a session for each connection."""
        count, until = 0, time.perf_counter() + plan["seconds"]

        async def talk(uri: str) -> None:
            nonlocal count
            (client,) = await connected(plan["port"], 1)
            clients.append(client)
            await self.dialect.open(client, f"talker{next(self._names)}", self.dialect.follows(uri))
            seq = 0
            while time.perf_counter() < until:
                seq += 1
                over = client.expect(self.dialect.complete)
                client.transport.write(self.dialect.turn(uri, seq, "1 0"))
                await over
                count += 1

        author, uris = await self._author(plan["port"], plan["connections"])
        clients = [author]
        begun = time.perf_counter()
        until = begun + plan["seconds"]
        await asyncio.gather(*map(talk, uris))
        return self._over(clients, seconds=time.perf_counter() - begun, turns=count)

    async def broadcast(self, plan: Any) -> Any:
        """Let a bare server do the same."""
        clients = await connected(plan["port"], plan["connections"])
        for client in clients:
            await ask(client, 1, "initialize")
        waits = [client.expect(DIALECTS["1.0"].delta, plan["deltas"]) for client in clients]
        begun = time.perf_counter()
        clients[0].transport.write(frame({"go": plan["deltas"]}))
        await asyncio.gather(*waits)
        return self._over(clients, seconds=time.perf_counter() - begun)

    async def latency(self, plan: Any) -> Any:
        """Let many sessions stream; look at one of them, with many subscribers."""
        author, uris = await self._author(plan["port"], plan["sessions"])
        clients = await connected(plan["port"], plan["connections"])
        for number, client in enumerate(clients):
            await self.dialect.open(client, f"c{number}", self.dialect.follows(uris[0]))
            client.keeps_stamps = True
        waits = [client.expect(self.dialect.delta, plan["deltas"]) for client in clients]
        for number, uri in enumerate(uris):
            author.transport.write(self.dialect.turn(uri, number + 1, f"{plan['deltas']} {plan['pause']}"))
        await asyncio.gather(*waits)
        last: dict[bytes, float] = {}
        for client in clients:
            for now, stamp in client.stamps:
                last[stamp] = max(last.get(stamp, 0.0), now)
        took = sorted(now - float(stamp) for stamp, now in last.items())
        at = {"p50": took[len(took) // 2], "p99": took[int(len(took) * 0.99)], "most": took[-1]}
        return self._over([author, *clients], **at)

    async def replay(self, plan: Any) -> Any:
        """Come back to a session after all of a long turn."""
        author, (uri,) = await self._author(plan["port"])
        chat, name = self.dialect.follows(uri), f"returner{next(self._names)}"
        (client,) = await connected(plan["port"], 1)
        await self.dialect.open(client, name, chat)
        (seen,) = SEEN.findall(client.newest)
        client.transport.abort()
        await self._follow(author, chat)
        ended = author.expect(self.dialect.complete)
        author.transport.write(self.dialect.turn(uri, 1, f"{plan['deltas']} 0"))
        await ended
        (client,) = await connected(plan["port"], 1)
        whole = client.expect(self.dialect.delta, plan["deltas"])
        begun = time.perf_counter()
        back = {"clientId": name, "lastSeenServerSeq": int(seen), "subscriptions": [chat]}
        client.transport.write(request(1, "reconnect", channel=self.dialect.root, **back))
        await whole
        seconds, size = time.perf_counter() - begun, client.bytes
        return self._over([author, client], seconds=seconds, bytes=size)

    async def hold(self, plan: Any) -> Any:
        """Keep connections that do nothing."""
        clients = await connected(plan["port"], plan["connections"])
        for number, client in enumerate(clients):
            await self.dialect.open(client, f"held{len(self._held) + number}", self.dialect.root)
        self._held += clients
        return {}

    async def terminal(self, plan: Any) -> Any:
        """Let a terminal print much."""
        (client,) = await connected(plan["port"], 1)
        name, uri = f"typist{next(self._names)}", self._uri()
        await self.dialect.open(client, name)
        about: Any = {self.dialect.terminal: uri}
        await ask(client, 2, "createTerminal", **about, claim={"kind": "client", "clientId": name})
        await self._follow(client, uri)
        await asyncio.sleep(0.5)  # the shell has to be there first
        ended = client.expect(b"END")
        begun = time.perf_counter()
        client.transport.write(self.dialect.input(uri, plan["line"] + "\n"))
        await ended
        seconds = time.perf_counter() - begun
        await ask(client, 4, "disposeTerminal", **about)
        return self._over([client], seconds=seconds)

    def _over(self, clients: list[Client], **found: Any) -> Any:
        for client in clients:
            client.transport.abort()
        return found


async def main() -> None:
    """Run plans until there are no more."""
    plans = Plans()
    while line := await asyncio.to_thread(sys.stdin.readline):
        plan = json.loads(line)
        plans.dialect = DIALECTS[plan.get("protocol", "1.0")]
        print(json.dumps(await getattr(plans, plan["kind"])(plan)), flush=True)


if __name__ == "__main__":
    uvloop.run(main())
