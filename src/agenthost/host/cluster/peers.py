"""Peers: the other nodes of this host, and calls to and from them.

A call is a method with parameters, and is answered with a result or an error of the host. Each node makes a
connection of its own to call another one, when it is first needed. Calls begin at the other node in the order
in which they were made here: what a handler does before it first waits is done in that order.
"""

import asyncio
import itertools
import logging
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from agenthost.errors import HostError, NotJson, PeerFailed, PeerGone, TooLarge
from agenthost.host.cluster.carried_errors import pack_error
from agenthost.host.cluster.channels import MAX_FRAME, Channel, ChannelClosed
from agenthost.host.cluster.handshake import (
    CALLED,
    CALLER,
    VERSION,
    Parties,
    find_key,
    introduce,
    is_nonce,
    new_nonce,
    prove,
    read_introduction,
)
from agenthost.host.cluster.link import CLOSED, Link
from agenthost.wire.json import Json, JsonObject, decode_json, encode_json

__all__ = ["Dial", "FindUrl", "Handler", "Peers"]

log = logging.getLogger("agenthost.peers")

MAX_CALLS = 1_000
"""How many calls to one node, and from one, may be under way. More wait."""

GREETING_SECONDS = 5.0

Handler: TypeAlias = Callable[[int, JsonObject], Awaitable[Json]]
"""Handles a call: is given the id of the node that calls, and the parameters. Raises errors of the host."""

FindUrl: TypeAlias = Callable[[int], Awaitable[str | None]]
"""Returns the URL of a node; `None` if there is no such node alive."""

Dial: TypeAlias = Callable[[str], Awaitable[Channel]]
"""Connects to a node by its URL. Raises `ChannelClosed`."""


@dataclass(slots=True)
class _Peer:
    link: Link | None = None
    trouble: str = ""
    slots: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(MAX_CALLS))


class Peers:
    """The other nodes of this host."""

    def __init__(self, keys: Sequence[bytes], node: int, find_url: FindUrl, dial: Dial) -> None:
        """Be this node.

        Args:
            keys: derived from the secret keys of the host, the newest first.
            node: the id of this node.
            find_url: finds the URL of a node.
            dial: connects to one; see `websocket.Dialer`.
        """
        self.node = node
        self._keys = list(keys)
        self._find_url = find_url
        self._dial = dial
        self._handlers: dict[str, Handler] = {}
        self._peers: dict[int, _Peer] = {}
        self._numbers = itertools.count(1)
        self._served: set[Channel] = set()
        self._tasks: set[asyncio.Task[None]] = set()
        self._is_closed = False

    # Calling

    async def call(self, node: int, method: str, params: JsonObject) -> Json:
        """Call a method of another node, and return its result.

        Raises:
            PeerRefused: it raised an error of the host, which is the `error` of this one.
            PeerGone: it cannot be reached, or the connection was lost.
            TooLarge: the parameters are.
        """
        number = next(self._numbers)
        data = _encode([number, method, params])
        peer = self._peers.setdefault(node, _Peer())
        async with peer.slots:
            return await self._link(node, peer).call(number, data)

    def tell(self, node: int, method: str, params: JsonObject) -> None:
        """Call a method of another node, in the same order, and do not wait. It may not reach it."""
        if not self._is_closed:
            self._link(node, self._peers.setdefault(node, _Peer())).tell(_encode([0, method, params]))

    def _link(self, node: int, peer: _Peer) -> Link:
        if self._is_closed:
            raise PeerGone(node, CLOSED)
        if peer.link is None or peer.link.is_over:
            peer.link = Link(node, lambda: self._connect(node, peer))
        return peer.link

    async def _connect(self, node: int, peer: _Peer) -> Channel:
        try:
            channel = await self._reach(node)
        except ChannelClosed as error:
            if str(error) != peer.trouble:  # once, however often it is tried
                log.info("node %d cannot be called: %s", node, error)
            peer.trouble = str(error)
            raise
        peer.trouble = ""
        return channel

    async def _reach(self, node: int) -> Channel:
        url = await self._find_url(node)
        if url is None:
            raise ChannelClosed("it is not alive")
        channel = await self._dial(url)
        try:
            async with asyncio.timeout(GREETING_SECONDS):
                await self._introduce(channel, node)
        except BaseException as error:
            await channel.close(1008, "")
            if isinstance(error, TimeoutError):
                raise ChannelClosed("it does not answer") from None
            if isinstance(error, NotJson):
                raise ChannelClosed("it is not a node of this host") from None
            raise
        channel.trust()
        return channel

    async def _introduce(self, channel: Channel, node: int) -> None:
        """Prove to a node who we are, and let it prove who it is."""
        greeting = decode_json(await channel.receive())
        if not isinstance(greeting, dict) or not is_nonce(greeting.get("nonce")):
            raise ChannelClosed("it is not a node of this host")
        parties = Parties(self.node, node, new_nonce(), greeting["nonce"])
        await channel.send(encode_json(introduce(self._keys, parties)))
        answer = decode_json(await channel.receive())
        proof = answer.get("proof") if isinstance(answer, dict) else None
        if not isinstance(proof, str) or find_key(self._keys, CALLED, parties, [proof]) is None:
            raise ChannelClosed("it does not have the secret key of this host")

    # Being called

    def on(self, method: str, handler: Handler) -> None:
        """Let other nodes call this method."""
        self._handlers[method] = handler

    async def serve(self, channel: Channel) -> None:
        """Answer another node's calls on a channel, until it is closed. Strangers are refused."""
        try:
            async with asyncio.timeout(GREETING_SECONDS):
                caller = await self._greet(channel)
        except (ChannelClosed, NotJson, TimeoutError):
            caller = None
        if caller is None or self._is_closed:
            await channel.close(1008, "not a node of this host")
            return
        channel.trust()
        self._served.add(channel)
        try:
            await self._answer_all(channel, caller)
        except ChannelClosed as error:
            log.debug("node %d calls no more: %s", caller, error)
        except (NotJson, TypeError, ValueError):
            await channel.close(1007, "not a call")
        finally:
            self._served.discard(channel)

    async def _greet(self, channel: Channel) -> int | None:
        """Let a caller prove who it is, and prove it to them. Return its id; `None` if it is a stranger."""
        nonce = new_nonce()
        await channel.send(encode_json({"peer": VERSION, "nonce": nonce}))
        read = read_introduction(decode_json(await channel.receive()), self.node, nonce)
        key = None if read is None else find_key(self._keys, CALLER, *read)
        if read is None or key is None:
            return None
        await channel.send(encode_json({"proof": prove(key, CALLED, read[0])}))
        return read[0].caller

    async def _answer_all(self, channel: Channel, caller: int) -> None:
        slots = asyncio.Semaphore(MAX_CALLS)
        while True:
            number, method, params = decode_json(await channel.receive())
            await slots.acquire()  # nothing more is read while so many are under way
            task = asyncio.create_task(self._answer(channel, caller, number, method, params))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)
            task.add_done_callback(lambda _: slots.release())

    async def _answer(self, channel: Channel, caller: int, number: int, method: str, params: Json) -> None:
        try:
            answer = _encode([number, True, await self._find_handler(method)(caller, params)])
        except HostError as error:
            answer = encode_json([number, False, pack_error(error)])
        except Exception as error:
            log.exception("a call of node %d failed: %.80s", caller, method)
            answer = encode_json([number, False, pack_error(error)])
        if number:
            try:
                await channel.send(answer)
            except ChannelClosed:
                log.debug("node %d did not wait for the answer to %.80s", caller, method)

    def _find_handler(self, method: str) -> Handler:
        handler = self._handlers.get(method)
        if handler is None:
            raise PeerFailed(f"node {self.node} does not know {method!r:.80}; is it of an older version?")
        return handler

    async def close(self) -> None:
        """Close all connections. Calls under way fail, and handlers that run are cancelled."""
        self._is_closed = True
        for task in self._tasks:
            task.cancel()
        for channel in list(self._served):
            await channel.close(1001, CLOSED)
        await asyncio.gather(*(peer.link.close() for peer in self._peers.values() if peer.link is not None))
        await asyncio.gather(*self._tasks, return_exceptions=True)


def _encode(message: list[Json]) -> bytes:
    data = encode_json(message)
    if len(data) > MAX_FRAME:
        raise TooLarge("a message to another node", MAX_FRAME)
    return data
