"""Senders: the connections of clients that dispatch actions, and which of these the host has taken already.

A client that comes back may send once more what it does not know the fate of. Its number alone says nothing:
some clients count anew on each connection, others give all actions the same. So the host keeps a receipt for
each action that it took, in the same commit. On a connection that was opened by `reconnect` the very same
action under the same number is a repeat if its echo cannot have been seen. Each receipt absorbs one.
"""

import asyncio
from collections.abc import Callable, Sequence
from hashlib import blake2b
from typing import Any

import msgspec

from agenthost.host.identity import Identity
from agenthost.host.journal import Journal
from agenthost.host.storage import DropReceipts, EchoReceipt, Receipt, Storage
from agenthost.host.subscriptions import Shown
from agenthost.wire.json import Json

__all__ = ["MAX_RECEIPTS", "Sender", "Senders", "Sent", "digest_of"]

MAX_RECEIPTS = 256
"""How many receipts are kept of one client, the newest: far more than are ever sent and not yet echoed."""

_encode = msgspec.json.Encoder(order="deterministic").encode

Tell = Callable[[Shown], None]


def digest_of(action: Json) -> bytes:
    """Return what tells an action apart from others, whatever the order of its keys."""
    return blake2b(_encode(action), digest_size=16).digest()


class Sent(msgspec.Struct, frozen=True, gc=False):
    """What is known of an action that a client sent: whose it is, its number and its digest."""

    identity: Identity
    client_seq: int
    digest: bytes

    def to_json(self) -> list[Json]:
        """Return it in a form that can be kept."""
        return [self.identity.key, self.client_seq, self.digest.hex()]

    @classmethod
    def from_json(cls, kept: list[Any]) -> "Sent":
        """Return what was kept."""
        identity, client_seq, digest = kept
        return cls(Identity.from_key(identity), client_seq, bytes.fromhex(digest))


class _Kept(msgspec.Struct, gc=False, eq=False):
    """A receipt in memory. `by` is the connection that the action came by, if that is still known."""

    slot: int
    sent: Sent
    seq: int | None
    by: "Sender | None" = None


class _Client:
    """A client that has a connection, or whose receipts are not all durable yet."""

    def __init__(self) -> None:
        self.senders: list[Sender] = []
        self.ticket = 0
        self.loading = asyncio.Lock()
        self.is_loaded = False
        self._kept: dict[int, _Kept] = {}  # by slot, oldest first
        self._known: dict[Sent, list[_Kept]] = {}

    def clear(self) -> None:
        """Forget all receipts."""
        self._kept, self._known = {}, {}

    def add(self, kept: _Kept) -> None:
        """Add a receipt."""
        self._kept[kept.slot] = kept
        self._known.setdefault(kept.sent, []).append(kept)

    def remove(self, kept: _Kept) -> None:
        """Remove a receipt."""
        del self._kept[kept.slot]
        same = self._known[kept.sent]
        same.remove(kept)
        if not same:
            del self._known[kept.sent]

    def of(self, sent: Sent) -> list[_Kept]:
        """Return the receipts for this action under this number, oldest first."""
        return self._known.get(sent, [])

    def free_slot(self) -> int:
        """Return a place for one more receipt: the oldest makes room."""
        count = len(self._kept)
        if count < MAX_RECEIPTS:
            return next(slot for slot in range(count, -1, -1) if slot not in self._kept)
        oldest = next(iter(self._kept.values()))
        self.remove(oldest)
        return oldest.slot


class Sender:
    """A connection of a client. Made by `Senders`, which has to be told when it ends.

    `tell` brings it what only this client is shown. `last_seen` is the number that it came back with; `None`
    if it began anew.
    """

    def __init__(self, identity: Identity, tell: Tell, last_seen: int | None) -> None:
        self.identity = identity
        self.tell = tell
        self.last_seen = last_seen


class Senders:
    """All connections that actions come by."""

    def __init__(self, storage: Storage, journal: Journal) -> None:
        self._storage = storage
        self._journal = journal
        self._clients: dict[Identity, _Client] = {}

    async def join(self, identity: Identity, tell: Tell, last_seen: int | None) -> Sender:
        """Take in a connection. Without a `last_seen` the client begins anew, and its receipts go."""
        sender = Sender(identity, tell, last_seen)
        client = self._clients.setdefault(identity, _Client())
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

    def _clear(self, identity: Identity, client: _Client) -> None:
        client.clear()
        client.is_loaded = True
        client.ticket = self._journal.write([DropReceipts(identity.key)])

    def _load(self, client: _Client, found: Sequence[Receipt]) -> None:
        for one in found:
            client.add(
                _Kept(one.slot, Sent(Identity.from_key(one.identity), one.client_seq, one.digest), one.seq)
            )
        client.is_loaded = True

    def leave(self, sender: Sender) -> None:
        """Forget a connection that ended."""
        client = self._clients[sender.identity]
        client.senders.remove(sender)
        if not client.senders:
            # Not before all is durable: else it could not be read again.
            self._journal.write([], self._forget, (sender.identity, client.ticket))

    def _forget(self, left: tuple[Identity, int]) -> None:
        identity, ticket = left
        client = self._clients.get(identity)
        if client is not None and not client.senders and client.ticket == ticket:
            del self._clients[identity]

    def tell(self, identity: Identity, shown: Shown) -> None:
        """Bring a client what only it is shown, by its newest connection; it may have none."""
        client = self._clients.get(identity)
        if client is not None and client.senders:
            client.senders[-1].tell(shown)

    def absorb(self, sender: Sender, sent: Sent) -> bool:
        """Tell whether an action is a repeat of one that was taken. Its receipt is spent by that."""
        if sender.last_seen is None:
            return False
        client = self._clients[sender.identity]
        for kept in client.of(sent):
            if kept.by is not sender and (kept.seq is None or kept.seq > sender.last_seen):
                client.remove(kept)
                client.ticket = self._journal.write([DropReceipts(sender.identity.key, kept.slot)])
                return True
        return False

    def took(self, sender: Sender, sent: Sent, seq: int | None) -> None:
        """Keep a receipt, in the commit of what happened just now; `seq` is the number of the echo."""
        client = self._clients[sender.identity]
        slot = client.free_slot()
        client.add(_Kept(slot, sent, seq, sender))
        receipt = Receipt(sender.identity.key, slot, sent.client_seq, sent.digest, seq)
        client.ticket = self._journal.write([receipt])

    def echoed(self, sent: Sent, seq: int) -> None:
        """Note the number of an echo that came late, in the commit of what happened just now."""
        client = self._clients.get(sent.identity)
        for kept in () if client is None else client.of(sent):
            kept.seq = seq if kept.seq is None else kept.seq
        self._journal.write([EchoReceipt(sent.identity.key, sent.client_seq, sent.digest, seq)])
