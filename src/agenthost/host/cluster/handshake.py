"""The handshake of two nodes: each proves to the other that it has the host's secret key.

The side that was called sends a challenge. The caller answers with one of its own and a proof over both, and
the other side with its proof. Both challenges are new for each connection, so nothing that was overheard is
of use for another one, and each side has its own label, so that no proof can be sent back to its maker. While
the secret key is being changed, nodes have several: a caller sends a proof for each.
"""

import hmac
import secrets
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from agenthost.wire.json import JsonObject

__all__ = ["CALLED", "CALLER", "MAX_KEYS", "Parties", "find_key", "new_nonce", "prove"]

CALLER = "caller"
CALLED = "called"
VERSION = 1
MAX_KEYS = 8

_NONCE_BYTES = 32


@dataclass(frozen=True, slots=True)
class Parties:
    """Who talks to whom: the ids of both nodes, and the challenges of both."""

    caller: int
    called: int
    caller_nonce: str
    called_nonce: str

    def message(self, role: str) -> bytes:
        """Return what is signed by one of them. The nonces are hexadecimal, so no two messages are alike."""
        parts = (role, self.caller, self.called, self.caller_nonce, self.called_nonce)
        return "|".join(map(str, ("agenthost", VERSION, *parts))).encode()


def new_nonce() -> str:
    """Return a challenge."""
    return secrets.token_hex(_NONCE_BYTES)


def is_nonce(value: object) -> bool:
    """Return whether this is a challenge as `new_nonce` makes them."""
    is_long = isinstance(value, str) and len(value) == 2 * _NONCE_BYTES
    return is_long and set(str(value)) <= set("0123456789abcdef")


def prove(key: bytes, role: str, parties: Parties) -> str:
    """Return the proof of one side."""
    return hmac.new(key, parties.message(role), "sha256").hexdigest()


def find_key(keys: Iterable[bytes], role: str, parties: Parties, proofs: Sequence[str]) -> bytes | None:
    """Return which of our keys one of these proofs was made with, if any was."""
    for key in keys:
        expected = prove(key, role, parties).encode()
        if any(hmac.compare_digest(expected, one.encode()) for one in proofs):
            return key
    return None


def read_introduction(message: object, called: int, called_nonce: str) -> tuple[Parties, list[str]] | None:
    """Read what a caller says of itself, with its proofs; `None` if it is wrong, or for another node."""
    if not isinstance(message, dict) or not is_nonce(message.get("nonce")):
        return None
    caller, proofs = message.get("from"), message.get("proofs")
    if type(caller) is not int or message.get("to") != called or not isinstance(proofs, list):
        return None
    if len(proofs) > MAX_KEYS or not all(isinstance(one, str) for one in proofs):
        return None
    return Parties(caller, called, message["nonce"], called_nonce), proofs


def introduce(keys: Iterable[bytes], parties: Parties) -> JsonObject:
    """Return what a caller says of itself."""
    return {
        "from": parties.caller,
        "to": parties.called,
        "nonce": parties.caller_nonce,
        "proofs": [prove(key, CALLER, parties) for key in list(keys)[:MAX_KEYS]],
    }
