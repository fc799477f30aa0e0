"""Access: authenticates requests and WebSockets, whatever the protocol.

If access is granted, the scope gets two entries for the protocols:

- `agenthost.caller`: the `Caller`, for the host: whose sessions they see, and what they may do.
- `agenthost.admission`: the `Admission`. Long-lived connections check it again from time to time.
"""

from collections.abc import Collection
from dataclasses import dataclass
from urllib.parse import parse_qsl, urlencode

from starlette.datastructures import Headers
from starlette.types import Scope

from agenthost.core.decisions.grants import ALL_RIGHTS, GRANTS, Grant, Rights
from agenthost.edges.connections import SLOT, sign_in
from agenthost.host.access.caller import Caller
from agenthost.host.access.keys import Keys

__all__ = ["ADMISSION", "CALLER", "Access", "Admission", "caller_of"]

CALLER = "agenthost.caller"
ADMISSION = "agenthost.admission"

HEALTH = frozenset({"/healthz", "/readyz"})
"""Health paths: no key needed, nothing revealed."""

NOBODY = "\0"
"""An owner that no key can have. Public paths get it, so they could never show any sessions."""

TOKEN = "tkn"  # noqa: S105 - the name of it
"""The query parameter of a WebSocket for the key: browsers cannot send headers there."""

BEARER = "bearer."
"""The prefix of a WebSocket subprotocol that contains the key. Unlike addresses, proxies do not log it."""


@dataclass(frozen=True, slots=True)
class Admission:
    """A granted access.

    Attributes:
        caller: who it is, and what they may do.
        key_id: the id of the key; `None` if none was needed.
    """

    caller: Caller
    key_id: str | None
    _keys: Keys

    @property
    def is_valid(self) -> bool:
        """Whether the same access would be granted now: by the same key, with the same grants."""
        if self.key_id is not None:
            key = self._keys.get(self.key_id)
            return key is not None and key.grants == self.caller.rights.grants
        return self.caller.owner is not None or not self._keys.is_needed


class Access:
    """Grants access by a key or the token, or to everybody if neither is needed."""

    def __init__(
        self, keys: Keys | None = None, public: Collection[str] = (), off: Collection[Grant] = ()
    ) -> None:
        """Check these keys. `GET` requests to public paths need none.

        Grants in `off` are switched off for everybody.
        """
        self._keys = keys or Keys(None)
        self._public = frozenset(public) | HEALTH
        self._off = frozenset(off)
        rights = Rights(frozenset(GRANTS), self._off) if self._off else ALL_RIGHTS
        self._everybody = Admission(Caller(None, rights), None, self._keys)

    @property
    def needs_key(self) -> bool:
        """Whether a key or the token is required."""
        return self._keys.is_needed

    @property
    def has_keys(self) -> bool:
        """Whether there are keys besides the token."""
        return self._keys.has_keys

    def admit(self, scope: Scope) -> Admission | None:
        """Authenticate, and record the caller in the scope; `None` if access is not granted.

        The key of a WebSocket is removed from its query and its subprotocols, so that nobody logs it by
        accident.
        """
        in_address = in_protocols = ""
        if scope["type"] == "websocket":
            in_address, in_protocols = _pop_query_token(scope), _pop_subprotocol_token(scope)
        if not self._keys.is_needed:
            everybody = self._everybody
            scope[CALLER], scope[ADMISSION] = everybody.caller, everybody
            if SLOT in scope:
                sign_in(scope)
            return everybody
        token = _bearer_token(scope) or in_protocols or in_address
        key = self._keys.find(token) if token else None
        if key is not None:
            sign_in(scope)
            caller = Caller(key.owner, Rights(key.grants, self._off))
            return _record(scope, Admission(caller, key.id, self._keys))
        if self._is_public(scope):
            return _record(scope, Admission(Caller(NOBODY), None, self._keys))
        return None

    def check(self, scope: Scope, command: str) -> None:
        """Refuse a command that the caller has no grant for, unless the path is public.

        Raises:
            GrantMissing, SwitchedOff: with what is missing.
        """
        if not self._is_public(scope):
            caller_of(scope).rights.check(command)

    def _is_public(self, scope: Scope) -> bool:
        is_read = scope["type"] == "http" and scope["method"] in {"GET", "HEAD"}
        return is_read and scope["path"] in self._public


def caller_of(scope: Scope) -> Caller:
    """Return the authenticated caller of a request."""
    caller: Caller = scope[CALLER]
    return caller


def _record(scope: Scope, admission: Admission) -> Admission:
    scope[CALLER] = admission.caller
    scope[ADMISSION] = admission
    return admission


def _bearer_token(scope: Scope) -> str:
    """Return the token of the `Authorization` header; empty if there is none, or more than one."""
    found = Headers(scope=scope).getlist("authorization")
    scheme, _, token = found[0].strip().partition(" ") if len(found) == 1 else ("", "", "")
    return token.strip() if scheme.lower() == "bearer" else ""


def _pop_query_token(scope: Scope) -> str:
    """Remove the token from a WebSocket's query, and return it."""
    if not scope["query_string"]:
        return ""
    pairs = parse_qsl(scope["query_string"].decode("latin-1"), keep_blank_values=True)
    found = [value for name, value in pairs if name == TOKEN]
    if found:
        scope["query_string"] = urlencode([pair for pair in pairs if pair[0] != TOKEN]).encode()
    return found[0] if len(found) == 1 else ""


def _pop_subprotocol_token(scope: Scope) -> str:
    """Remove the token from the subprotocols that a WebSocket offers, and return it."""
    offered = scope.get("subprotocols") or []
    found = [name.removeprefix(BEARER) for name in offered if name.startswith(BEARER)]
    if found:
        scope["subprotocols"] = [name for name in offered if not name.startswith(BEARER)]
        scope["headers"] = [pair for pair in scope["headers"] if pair[0] != b"sec-websocket-protocol"]
    return found[0] if len(found) == 1 else ""
