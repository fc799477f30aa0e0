"""A client that speaks AHP by hand: JSON-RPC over a WebSocket, with nothing of ours but the shapes.

Every frame that comes is checked, see `ahp_frames`; one that is wrong fails what the test waits for next.
"""

import asyncio
import itertools
import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any, Self

from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed

from ahp_frames import Ears, Gone, Refused
from hosting import TIMEOUT

__all__ = ["Client", "Gone", "Refused", "new_uri"]

_names = itertools.count(1)


def new_uri(agent: str = "demo") -> str:
    """Return the URI of a session that is not there yet."""
    return f"{agent}:/s{next(_names)}"


class Client(Ears):
    """A connection. `open` or `reopen` it first; then `request`, `act` and wait for what happens."""

    def __init__(self, socket: ClientConnection, client_id: str) -> None:
        super().__init__(client_id)
        self.socket = socket
        self.frames: list[str] = []
        self._ids = itertools.count(1)
        self._seqs = itertools.count(1)
        self._read = 0
        self._news = asyncio.Event()
        self._fault: BaseException | None = None
        self._reader = asyncio.create_task(self._listen())

    @classmethod
    @asynccontextmanager
    async def connected(
        cls, url: str, client_id: str = "me", key: str | None = None, **options: Any
    ) -> AsyncIterator[Self]:
        """Connect, and leave in the end."""
        headers = {"Authorization": f"Bearer {key}"} if key else {}
        address = f"{url.replace('http', 'ws', 1)}/ahp"
        options = {"max_size": None, "compression": None, **options}
        async with connect(address, additional_headers=headers, **options) as socket:
            client = cls(socket, client_id)
            try:
                yield client
            finally:
                await client.leave()
        client.check()

    async def leave(self) -> None:
        """Close the connection."""
        await self.socket.close()
        await asyncio.wait([self._reader])

    def check(self) -> None:
        """Fail if anything that came was wrong."""
        if self._fault is not None and not isinstance(self._fault, ConnectionClosed | Gone):
            raise self._fault

    # Opening

    async def open(self, *subscriptions: str, **more: Any) -> Any:
        """Begin, as `initialize` does."""
        params = {"protocolVersions": ["0.1.0"], "clientId": self.client_id, **more}
        if subscriptions:
            params["initialSubscriptions"] = list(subscriptions)
        result = await self.request("initialize", **params)
        self.last_seq = max(self.last_seq, result["serverSeq"])
        return result

    async def reopen(self, last_seen: int, *subscriptions: str) -> Any:
        """Come back, as `reconnect` does."""
        self._seqs = itertools.count(10_000)  # a client goes on counting
        params = {"clientId": self.client_id, "lastSeenServerSeq": last_seen}
        return await self.request("reconnect", **params, subscriptions=list(subscriptions))

    # Asking

    async def request(self, method: str, /, **params: Any) -> Any:
        """Ask, and wait for the result."""
        return await self.ask(method, params)

    async def ask(self, method: str, params: Any, message_id: Any = None) -> Any:
        """Ask, and wait for the result; `params` may be anything."""
        async with asyncio.timeout(TIMEOUT):
            return await self.begin(method, params, message_id)

    def begin(self, method: str, params: Any, message_id: Any = None) -> "asyncio.Future[Any]":
        """Ask, and return what will be answered: for several questions at once."""
        message_id = next(self._ids) if message_id is None else message_id
        future: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self._asked[message_id] = (method, params, future)
        message = {"jsonrpc": "2.0", "id": message_id, "method": method, "params": params}
        sending = asyncio.ensure_future(self.socket.send(json.dumps(message)))
        sending.add_done_callback(lambda done: done.exception())
        return future

    async def refusal(self, method: str, /, **params: Any) -> Refused:
        """Ask for something that is refused, and return the refusal."""
        try:
            found = await self.request(method, **params)
        except Refused as refused:
            return refused
        raise AssertionError(f"{method} was not refused, but answered with {found}")

    async def tell(self, method: str, /, **params: Any) -> None:
        """Say something that is not answered."""
        await self.socket.send(json.dumps({"jsonrpc": "2.0", "method": method, "params": params}))

    async def raw(self, frame: str | bytes) -> None:
        """Send a frame, whatever it is."""
        await self.socket.send(frame)

    async def stray(self) -> Any:
        """Wait for the next answer that belongs to no request."""
        await self.until(lambda: self.strays)
        return self.strays.pop(0)

    async def subscribe(self, uri: str) -> Any:
        """Subscribe, and return the state."""
        return (await self.request("subscribe", resource=uri))["snapshot"]["state"]

    async def unsubscribe(self, uri: str) -> None:
        """Unsubscribe, and wait until that has been heard."""
        await self.tell("unsubscribe", resource=uri)
        await self.request("ping")
        self._left.add(uri)

    # Acting

    async def act(self, uri: str, kind: str, /, seq: int | None = None, **fields: Any) -> int:
        """Dispatch an action on a resource; returns its number."""
        seq = next(self._seqs) if seq is None else seq
        action = {"type": kind, kind.partition("/")[0]: uri, **fields}
        if kind.startswith("root/"):
            del action["root"]
        await self.tell("dispatchAction", clientSeq=seq, action=action)
        return seq

    async def decide(self, uri: str, kind: str, /, **fields: Any) -> Any:
        """Dispatch an action, and wait for its echo or its refusal."""
        seq = await self.act(uri, kind, **fields)
        origin = {"clientId": self.client_id, "clientSeq": seq}
        return await self.hear(lambda envelope: envelope.get("origin") == origin)

    async def begun(self, uri: str | None = None, **more: Any) -> str:
        """Make a session, subscribe to it, and wait until it is ready."""
        uri = new_uri() if uri is None else uri
        await self.request("createSession", session=uri, **more)
        await self.subscribe(uri)
        await self.until(lambda: self.state(uri)["lifecycle"] != "creating")
        return uri

    async def send(self, uri: str, text: str, turn: str | None = None) -> str:
        """Start a turn; returns its id."""
        turn = turn or f"t{next(_names)}"
        envelope = await self.decide(uri, "session/turnStarted", turnId=turn, userMessage={"text": text})
        assert "rejectionReason" not in envelope, envelope
        return turn

    async def say(self, uri: str, text: str) -> Any:
        """Start a turn and wait for its end; returns the turn as the state has it."""
        turn = await self.send(uri, text)
        return await self.finish(uri, turn)

    async def finish(self, uri: str, turn: str) -> Any:
        """Wait for the end of a turn; returns the turn as the state has it."""
        await self.until(lambda: [one for one in self.state(uri)["turns"] if one["id"] == turn])
        return next(one for one in self.state(uri)["turns"] if one["id"] == turn)

    # Hearing

    def state(self, uri: str) -> Any:
        """Return what a resource is now."""
        return self.states[uri].state

    async def until(self, look: Callable[[], Any]) -> Any:
        """Wait until this is so; returns what `look` gave."""
        async with asyncio.timeout(TIMEOUT):
            while not (found := look()):
                if self._fault is not None:
                    raise Gone(str(self._fault)) from self._fault
                self._news.clear()
                await self._news.wait()
            return found

    async def hear(self, is_it: Callable[[Any], Any]) -> Any:
        """Wait for the first envelope that is meant, from the one on that was heard last."""

        def look() -> Any:
            while self._read < len(self.envelopes):
                self._read += 1
                if is_it(self.envelopes[self._read - 1]):
                    return self.envelopes[self._read - 1]
            return None

        return await self.until(look)

    async def hear_kind(self, kind: str) -> Any:
        """Wait for the next action of this kind, and return it."""
        return (await self.hear(lambda envelope: envelope["action"]["type"] == kind))["action"]

    async def notice(self, kind: str, **fields: Any) -> Any:
        """Wait for a notification of this kind with these fields, and return it."""

        def look() -> Any:
            for one in self.notices:
                if one["type"] == f"notify/{kind}" and all(one[key] == fields[key] for key in fields):
                    return one
            return None

        return await self.until(look)

    async def closed(self) -> tuple[int | None, str | None]:
        """Wait until the host has ended the connection; returns the code and the reason."""
        async with asyncio.timeout(TIMEOUT):
            await asyncio.wait([self._reader])
        self.check()
        return self.socket.close_code, self.socket.close_reason

    async def _listen(self) -> None:
        try:
            async for frame in self.socket:
                assert isinstance(frame, str), "a binary frame"
                self.frames.append(frame)
                self.take(json.loads(frame))
                self._news.set()
            self._fault = Gone("the connection was closed")
        except BaseException as fault:
            self._fault = fault
        finally:
            self._news.set()
            for _, _, future in self._asked.values():
                if not future.done():
                    future.set_exception(Gone(str(self._fault)))
                    future.exception()
