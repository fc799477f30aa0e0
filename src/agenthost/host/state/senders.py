"""Senders: the connections that clients dispatch actions on, and receipts of actions that were accepted.

A returning client may send an action again if it does not know whether it arrived (HR-C09). Its number alone
says nothing: some clients restart counting on each connection, others use one number for all. So the host
stores a receipt for each accepted action, in the same commit. On a connection opened by `reconnect`, the same
action with the same number is a repeat if the client cannot have seen its echo. Each receipt absorbs one.
"""

import asyncio
from collections.abc import Callable, Sequence
from hashlib import blake2b
from typing import Any

import msgspec

from agenthost.host.access.identity import Identity
from agenthost.host.log.journal import Journal
from agenthost.host.log.line import Mark
from agenthost.host.log.subscriptions import LogItem
from agenthost.host.storage import HERE, DropReceipts, EchoReceipt, Receipt, Storage
from agenthost.wire.json import Json

__all__ = ["MAX_RECEIPTS", "Sender", "Senders", "Sent", "action_digest"]

MAX_RECEIPTS = 256
"""How many receipts are kept per client, the newest: far more than are ever in flight."""

_encode = msgspec.json.Encoder(order="deterministic").encode

Deliver = Callable[[LogItem], None]


def action_digest(action: Json) -> bytes:
    """Return a digest of an action that does not depend on the order of its keys."""
    return blake2b(_encode(action), digest_size=16).digest()


class Sent(msgspec.Struct, frozen=True, gc=False):
    """The identity of a dispatched action: its client, its number and its digest."""

    identity: Identity
    client_seq: int
    digest: bytes

    def to_json(self) -> list[Json]:
        """Return it as JSON, to be stored."""
        return [self.identity.key, self.client_seq, self.digest.hex()]

    @classmethod
    def from_json(cls, known: list[Any]) -> "Sent":
        """Return what `to_json` returned."""
        identity, client_seq, digest = known
        return cls(Identity.from_key(identity), client_seq, bytes.fromhex(digest))


class _KnownReceipt(Mark, gc=False, eq=False, kw_only=True):
    """A receipt in memory. `by` is the connection that the action came from, if it is still known.

    `seq` is the number of the echo once that was shown.
    """

    slot: int
    sent: Sent
    has_echo: bool
    by: "Sender | None" = None


class _Client:
    """A client that has a connection, or whose receipts are not all durable yet."""

    def __init__(self) -> None:
        self.senders: list[Sender] = []
        self.ticket = 0
        self.loading = asyncio.Lock()
        self.is_loaded = False
        self._receipts: dict[int, _KnownReceipt] = {}  # by slot, oldest first
        self._known: dict[Sent, list[_KnownReceipt]] = {}

    def clear(self) -> None:
        """Forget all receipts."""
        self._receipts, self._known = {}, {}

    def add(self, known: _KnownReceipt) -> None:
        """Add a receipt."""
        self._receipts[known.slot] = known
        self._known.setdefault(known.sent, []).append(known)

    def remove(self, known: _KnownReceipt) -> None:
        """Remove a receipt."""
        del self._receipts[known.slot]
        same = self._known[known.sent]
        same.remove(known)
        if not same:
            del self._known[known.sent]

    def receipts_for(self, sent: Sent) -> list[_KnownReceipt]:
        """Return the receipts for this action with this number, oldest first."""
        return self._known.get(sent, [])

    def free_slot(self) -> int:
        """Return a slot for one more receipt. If all are in use, the oldest receipt is removed."""
        count = len(self._receipts)
        if count < MAX_RECEIPTS:
            return next(slot for slot in range(count, -1, -1) if slot not in self._receipts)
        oldest = next(iter(self._receipts.values()))
        self.remove(oldest)
        return oldest.slot


class Sender:
    """A connection of a client. Created by `Senders.join`; call `Senders.leave` when it ends.

    `deliver` sends it what only this client is shown. `last_seen` is the number that it returned with; `None`
    if it started over.
    """

    def __init__(self, identity: Identity, deliver: Deliver, last_seen: int | None) -> None:
        self.identity = identity
        self.deliver = deliver
        self.last_seen = last_seen


class Senders:
    """All connections that actions come from."""

    def __init__(self, storage: Storage, journal: Journal) -> None:
        self._storage = storage
        self._journal = journal
        self._clients: dict[Identity, _Client] = {}

    async def join(self, identity: Identity, deliver: Deliver, last_seen: int | None) -> Sender:
        """Add a connection. Without `last_seen` the client starts over, and its receipts are removed."""
        sender = Sender(identity, deliver, last_seen)
        client = self._clients.setdefault(identity, _Client())
        # Before the await below: `_forget` removes clients that have no connection.
        client.senders.append(sender)
        try:
            async with client.loading:
                if last_seen is None:
                    self._clear(identity, client)
                elif not client.is_loaded:
                    self._load(client, await asyncio.to_thread(self._storage.receipts, identity.key))
        except BaseException:
            self.leave(sender)
            raise
        return sender

    async def join_remote(self, identity: Identity, last_seen: int | None) -> Sender:
        """Add a connection that the client has with another node, which passes its actions on.

        That node has removed the receipts of a client that starts over.
        """
        if last_seen is not None:
            return await self.join(identity, lambda _: None, last_seen)
        sender = Sender(identity, lambda _: None, None)
        client = self._clients.setdefault(identity, _Client())
        client.senders.insert(0, sender)
        client.is_loaded = True
        return sender

    def _clear(self, identity: Identity, client: _Client) -> None:
        client.clear()
        client.is_loaded = True
        client.ticket = self._journal.write([DropReceipts(identity.key)])

    def _load(self, client: _Client, found: Sequence[Receipt]) -> None:
        for one in found:
            sent = Sent(Identity.from_key(one.identity), one.client_seq, one.digest)
            client.add(_KnownReceipt(one.seq, slot=one.slot, sent=sent, has_echo=one.seq is not None))
        client.is_loaded = True

    def leave(self, sender: Sender) -> None:
        """Forget a connection that ended."""
        client = self._clients[sender.identity]
        client.senders.remove(sender)
        if not client.senders:
            # Only once everything is durable, so that it can be loaded again.
            self._journal.write([], self._forget, (sender.identity, client.ticket))

    def _forget(self, left: tuple[Identity, int]) -> None:
        identity, ticket = left
        client = self._clients.get(identity)
        # It may have come and gone once more, leaving receipts that are not durable yet.
        if client is not None and not client.senders and client.ticket == ticket:
            del self._clients[identity]

    def deliver(self, identity: Identity, item: LogItem) -> None:
        """Send a client what only it is shown, on its newest connection, if it has one."""
        client = self._clients.get(identity)
        if client is not None and client.senders:
            client.senders[-1].deliver(item)

    def absorb(self, sender: Sender, sent: Sent) -> bool:
        """Return whether an action repeats one that was accepted. That uses up the receipt."""
        if sender.last_seen is None:
            return False
        client = self._clients[sender.identity]
        for known in client.receipts_for(sent):
            # D4: the same action twice on one connection is two actions.
            if known.by is not sender and (known.seq is None or known.seq > sender.last_seen):
                client.remove(known)
                client.ticket = self._journal.write([DropReceipts(sender.identity.key, known.slot)])
                return True
        return False

    def record(self, sender: Sender, sent: Sent, *, has_echo: bool) -> None:
        """Store a receipt, in the commit of the action. If it has an echo, that was applied last."""
        client = self._clients[sender.identity]
        slot = client.free_slot()
        known = _KnownReceipt(slot=slot, sent=sent, has_echo=has_echo, by=sender)
        client.add(known)
        seq = HERE if has_echo else None
        receipt = Receipt(sender.identity.key, slot, sent.client_seq, sent.digest, seq)
        # A mark: the echo gets its number when it is shown.
        client.ticket = self._journal.write([receipt], mark=known if has_echo else None)

    def record_echo(self, sent: Sent) -> None:
        """Store the number of a late echo, in the commit of that echo, which was applied last."""
        client = self._clients.get(sent.identity)
        for known in () if client is None else client.receipts_for(sent):
            if not known.has_echo:
                known.has_echo = True
                self._journal.write([], mark=known)
        self._journal.write([EchoReceipt(sent.identity.key, sent.client_seq, sent.digest)])
