"""Commands: what clients here want of sessions that other nodes write.

A command goes to the node that writes the session, and is answered when it is durable. If that node dies, it
goes to the next one, or is carried out here if that is this node. A command is known by the node that sends
it and an ordinal. What was carried out is recorded in the same commit, so none is carried out twice.
"""

import asyncio
import itertools
import logging
from collections.abc import Awaitable, Callable
from time import monotonic
from typing import Any, TypeAlias

from agenthost.errors import OwnedElsewhere, PeerGone, PeerRefused
from agenthost.host.cluster.peers import Peers
from agenthost.host.log.line import Line
from agenthost.host.state.ownership import Ownership
from agenthost.host.state.registry import SessionRegistry
from agenthost.host.state.session import Session
from agenthost.host.storage import HERE, Receipt
from agenthost.host.storage.shared import SharedStorage
from agenthost.wire.json import Json, JsonObject

__all__ = ["KNOWN", "CarryOut", "Commands"]

log = logging.getLogger("agenthost.commands")

MAX_SECONDS = 15.0
"""For how long a command is tried: longer than another node needs to take over."""

RETRY_SECONDS = 0.1

CarryOut: TypeAlias = Callable[[Session, str, JsonObject], Awaitable[Callable[[], Json]]]
"""Carries out a command on a session that this node writes. What it returns is asked for the answer later.

With the method `KNOWN` nothing is carried out: the command was, and only its answer is wanted.
"""

KNOWN = "known/"
"""Before the name of a method that was carried out already."""

SHOWN_SECONDS = 1.0
"""How long to wait until what was carried out elsewhere is shown here."""

METHOD = "command"


class Commands:
    """Sends commands to the nodes that write sessions, and carries out those of other nodes."""

    def __init__(
        self,
        storage: SharedStorage,
        ownership: Ownership,
        sessions: SessionRegistry,
        carry_out: CarryOut,
        line: Line,
    ) -> None:
        self._line = line
        self._storage = storage
        self._ownership = ownership
        self._sessions = sessions
        self._carry_out = carry_out
        self._peers: Peers | None = None
        self._ordinals = itertools.count(1)
        self._locks: dict[int, asyncio.Lock] = {}
        self._tasks: set[asyncio.Task[Json]] = set()
        self.sent = 0
        self.received = 0

    def connect(self, peers: Peers) -> None:
        """Use this way to other nodes."""
        self._peers = peers
        peers.on(METHOD, self._on_command)

    async def run(self, session: Session, method: str, params: JsonObject) -> Json:
        """Have a command carried out where a session is written, and return the answer.

        Commands for one session are carried out in order. Whoever waits for the answer may give up waiting;
        the command is carried out all the same.

        Raises:
            OwnedElsewhere: the node that writes it cannot be reached.
            HostError: the command is refused.
        """
        task = asyncio.create_task(self._run_in_order(session, method, params))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        done: Any = await asyncio.shield(task)
        await self._line.wait_for(done["seq"], SHOWN_SECONDS)
        return done["answer"]

    async def _run_in_order(self, session: Session, method: str, params: JsonObject) -> Json:
        lock = self._locks.setdefault(session.number, asyncio.Lock())
        try:
            async with lock:
                return await self._run(session, method, params)
        finally:
            if not lock.locked():
                self._locks.pop(session.number, None)

    async def _run(self, session: Session, method: str, params: JsonObject) -> Json:
        ordinal, begun, is_again = next(self._ordinals), monotonic(), False
        call: JsonObject = {"uri": session.uri, "method": method, "params": params, "ordinal": ordinal}
        while True:
            why = "no node writes it now"
            owner = await self._ownership.resolve(session.number)
            if owner == self._ownership.node:
                await self._sessions.take([session.number])
                held = await self._sessions.get(session.uri)
                if not held.is_foreign:
                    return await self._do(held, self._ownership.node, {**call, "again": is_again})
            elif owner and self._peers is not None:
                try:
                    self.sent += 1
                    return await self._peers.call(owner, METHOD, {**call, "again": is_again})
                except PeerGone as gone:
                    is_again, why = is_again or gone.was_sent, str(gone)
                except PeerRefused as refused:
                    if not isinstance(refused.error, OwnedElsewhere):
                        raise refused.error from None
                    why = str(refused.error)
            if monotonic() - begun > MAX_SECONDS:
                raise OwnedElsewhere(session.uri, why)
            await asyncio.sleep(RETRY_SECONDS)

    async def _on_command(self, node: int, call: JsonObject) -> Json:
        self.received += 1
        session = await self._sessions.get(call["uri"])
        session.check_own()
        return await self._do(session, node, call)

    async def _do(self, session: Session, node: int, call: JsonObject) -> Json:
        """Carry out a command once, and answer when it is durable."""
        sender, ordinal = f"\0node {node}", call["ordinal"]
        method, params = call["method"], call["params"]
        if call["again"]:
            known = await asyncio.to_thread(self._storage.receipts, sender)
            if any(one.slot == session.number and one.client_seq >= ordinal for one in known):
                method = KNOWN + method
        session.check_own()
        answer = await self._carry_out(session, method, params)
        # In the commit of what was carried out: nothing has waited since.
        receipt = Receipt(sender, session.number, ordinal, b"", HERE)
        await session.journal.wait(session.journal.write([receipt]))
        return {"answer": answer(), "seq": self._line.shown_seq}

    async def close(self) -> None:
        """Give up what is under way."""
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
