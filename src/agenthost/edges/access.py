"""Access: who asks, and whether they may. The same for requests and for WebSockets, whatever the protocol.

Whoever is let in is known by two entries of the scope, which the protocols read:

- `agenthost.owner`: whose sessions they see; None sees all, as long as there are no keys.
- `agenthost.grant`: the `Grant`, which a connection that lasts asks from time to time whether it still holds.
"""

from collections.abc import Collection
from dataclasses import dataclass
from urllib.parse import parse_qsl, urlencode

from starlette.datastructures import Headers
from starlette.types import Scope

from agenthost.edges.connections import sign_in
from agenthost.host.keys import Keys

__all__ = ["Access", "Grant"]

HEALTH = frozenset({"/healthz", "/readyz"})
"""What asks for these has no key, and learns nothing."""

NOBODY = "\0"
"""An owner that no key has: should a public path ever show sessions, there are none to see."""

TOKEN = "tkn"  # noqa: S105 - the name of it
"""The parameter of a WebSocket's address that may hold the key: browsers cannot send headers there."""

BEARER = "bearer."
"""What the name of a WebSocket's subprotocol begins with that is a key: no address, so no proxy logs it."""


@dataclass(frozen=True, slots=True)
class Grant:
    """That somebody was let in.

    Attributes:
        owner: whose sessions they see; None sees all.
        key_id: by which key; None if none was needed.
    """

    owner: str | None
    key_id: str | None
    _keys: Keys

    @property
    def is_valid(self) -> bool:
        """Whether they would be let in now: the key is not revoked and not expired, if one is needed."""
        if self.key_id is not None:
            return self._keys.is_valid(self.key_id)
        return self.owner is not None or not self._keys.is_needed


class Access:
    """Lets in who has a key, or everybody while there are none."""

    def __init__(self, keys: Keys | None = None, public: Collection[str] = ()) -> None:
        """Ask these keys; what is `GET` from the public paths needs none."""
        self._keys = keys or Keys(None)
        self._public = frozenset(public) | HEALTH
        self._everybody = Grant(None, None, self._keys)

    @property
    def needs_key(self) -> bool:
        """Whether there are keys, so that nobody comes in without."""
        return self._keys.is_needed

    def admit(self, scope: Scope) -> Grant | None:
        """Let somebody in, and note in the scope who it is; None if they may not.

        The key of a WebSocket is taken out of its address and its subprotocols, so that nobody writes it down
        by accident.
        """
        in_address = in_protocols = ""
        if scope["type"] == "websocket":
            in_address, in_protocols = _taken_out(scope), _taken_from_protocols(scope)
        if not self._keys.is_needed:
            sign_in(scope)
            return _noted(scope, self._everybody)
        token = _bearer(scope) or in_protocols or in_address
        key = self._keys.find(token) if token else None
        if key is not None:
            sign_in(scope)
            return _noted(scope, Grant(key.owner, key.id, self._keys))
        if self._is_public(scope):
            return _noted(scope, Grant(NOBODY, None, self._keys))
        return None

    def _is_public(self, scope: Scope) -> bool:
        is_read = scope["type"] == "http" and scope["method"] in {"GET", "HEAD"}
        return is_read and scope["path"] in self._public


def _noted(scope: Scope, grant: Grant) -> Grant:
    scope["agenthost.owner"] = grant.owner
    scope["agenthost.grant"] = grant
    return grant


def _bearer(scope: Scope) -> str:
    """Give the token of the `Authorization` header; nothing if there is none, or several."""
    found = Headers(scope=scope).getlist("authorization")
    scheme, _, token = found[0].strip().partition(" ") if len(found) == 1 else ("", "", "")
    return token.strip() if scheme.lower() == "bearer" else ""


def _taken_out(scope: Scope) -> str:
    """Take the token out of a WebSocket's address."""
    if not scope["query_string"]:
        return ""
    pairs = parse_qsl(scope["query_string"].decode("latin-1"), keep_blank_values=True)
    found = [value for name, value in pairs if name == TOKEN]
    if found:
        scope["query_string"] = urlencode([pair for pair in pairs if pair[0] != TOKEN]).encode()
    return found[0] if len(found) == 1 else ""


def _taken_from_protocols(scope: Scope) -> str:
    """Take the token out of the subprotocols that a WebSocket offers."""
    offered = scope.get("subprotocols") or []
    found = [name.removeprefix(BEARER) for name in offered if name.startswith(BEARER)]
    if found:
        scope["subprotocols"] = [name for name in offered if not name.startswith(BEARER)]
        scope["headers"] = [pair for pair in scope["headers"] if pair[0] != b"sec-websocket-protocol"]
    return found[0] if len(found) == 1 else ""
