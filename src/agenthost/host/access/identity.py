"""Identity: who a client is, among the clients of all owners.

A client chooses its own id, so equal ids of different owners are different clients. Whatever is stored or
shown for one client alone is keyed by its identity. Knows no keys and no connections.
"""

import msgspec

__all__ = ["Identity"]

_BETWEEN = "\0"


class Identity(msgspec.Struct, frozen=True, gc=False):
    """A client.

    Attributes:
        client_id: the id that it chose.
        owner: whose client it is; empty if keys have no owners, or there are no keys.
    """

    client_id: str
    owner: str = ""

    @classmethod
    def of(cls, owner: str | None, client_id: str) -> "Identity":
        """Return the identity of a client. `None`, who sees everything, becomes the empty owner."""
        return cls(client_id, owner or "")

    @classmethod
    def from_key(cls, key: str) -> "Identity":
        """Return the identity that has this key."""
        owner, found, client_id = key.partition(_BETWEEN)
        return cls(client_id, owner) if found else cls(key)

    @property
    def key(self) -> str:
        """The identity as one string, for stores. It is unique: owners cannot contain the separator."""
        is_plain = not self.owner and _BETWEEN not in self.client_id
        return self.client_id if is_plain else f"{self.owner}{_BETWEEN}{self.client_id}"

    def __str__(self) -> str:
        """Return it for logs."""
        return f"{self.client_id!r:.200}" + (f" of {self.owner!r:.200}" if self.owner else "")
