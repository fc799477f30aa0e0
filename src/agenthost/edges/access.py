"""Access: who asks, and whether they may. The same for requests and for WebSockets, whatever the protocol.

Whoever is let in is known by two entries of the scope, which the protocols read:

- `agenthost.caller`: the `Caller`, for the host: whose sessions they see, and what they may do.
- `agenthost.admission`: the `Admission`, which connections that last ask from time to time if it still holds.
"""

from collections.abc import Collection
from dataclasses import dataclass
from urllib.parse import parse_qsl, urlencode

from starlette.datastructures import Headers
from starlette.types import Scope

from agenthost.core.decisions.grants import GRANTS, Grant, Rights
from agenthost.edges.connections import sign_in
from agenthost.host.callers import Caller
from agenthost.host.keys import Keys

__all__ = ["ADMISSION", "CALLER", "Access", "Admission", "caller_of"]

CALLER = "agenthost.caller"
ADMISSION = "agenthost.admission"

HEALTH = frozenset({"/healthz", "/readyz"})
"""What asks for these has no key, and learns nothing."""

NOBODY = "\0"
"""An owner that no key has: should a public path ever show sessions, there are none to see."""

TOKEN = "tkn"  # noqa: S105 - the name of it
"""The parameter of a WebSocket's address that may hold the key: browsers cannot send headers there."""

BEARER = "bearer."
"""What the name of a WebSocket's subprotocol begins with that is a key: no address, so no proxy logs it."""


@dataclass(frozen=True, slots=True)
class Admission:
    """That somebody was let in.

    Attributes:
        caller: who it is, and what they may do.
        key_id: by which key; None if none was needed.
    """

    caller: Caller
    key_id: str | None
    _keys: Keys

    @property
    def is_valid(self) -> bool:
        """Whether they would be let in now as they were: by the same key, with the same grants."""
        if self.key_id is not None:
            key = self._keys.get(self.key_id)
            return key is not None and key.grants == self.caller.rights.grants
        return self.caller.owner is not None or not self._keys.is_needed


class Access:
    """Lets in who has a key or the token, or everybody where neither is needed."""

    def __init__(
        self, keys: Keys | None = None, public: Collection[str] = (), off: Collection[Grant] = ()
    ) -> None:
        """Ask these keys; what is `GET` from the public paths needs none.

        The grants that are `off` are no good to anybody.
        """
        self._keys = keys or Keys(None)
        self._public = frozenset(public) | HEALTH
        self._off = frozenset(off)
        self._everybody = Admission(Caller(None, Rights(frozenset(GRANTS), self._off)), None, self._keys)

    @property
    def needs_key(self) -> bool:
        """Whether nobody comes in without a key or the token."""
        return self._keys.is_needed

    @property
    def has_keys(self) -> bool:
        """Whether there are keys beside the token."""
        return self._keys.has_keys

    def admit(self, scope: Scope) -> Admission | None:
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
            caller = Caller(key.owner, Rights(key.grants, self._off))
            return _noted(scope, Admission(caller, key.id, self._keys))
        if self._is_public(scope):
            return _noted(scope, Admission(Caller(NOBODY), None, self._keys))
        return None

    def check(self, scope: Scope, command: str) -> None:
        """Refuse a command to those who were let in but may not do that, unless it is for everybody.

        Raises:
            GrantMissing, SwitchedOff: with what is missing.
        """
        if not self._is_public(scope):
            caller_of(scope).rights.check(command)

    def _is_public(self, scope: Scope) -> bool:
        is_read = scope["type"] == "http" and scope["method"] in {"GET", "HEAD"}
        return is_read and scope["path"] in self._public


def caller_of(scope: Scope) -> Caller:
    """Return who was let in."""
    caller: Caller = scope[CALLER]
    return caller


def _noted(scope: Scope, admission: Admission) -> Admission:
    scope[CALLER] = admission.caller
    scope[ADMISSION] = admission
    return admission


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
