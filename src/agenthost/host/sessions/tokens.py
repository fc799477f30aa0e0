"""Tokens: sent by clients so that agents can use protected resources on their behalf.

A token belongs to the client that sent it, is kept in memory only, and is never shown or logged (HR-P05). If
an agent needs one, its turns start only for a client that has sent it (HR-P01), however the turn starts: by a
client, from the queue, over a protocol without tokens, or as a task of another agent.
"""

from collections.abc import Mapping
from math import inf
from time import monotonic
from typing import NamedTuple
from weakref import WeakKeyDictionary

from agenthost.core.conversation import ConversationAction
from agenthost.errors import AuthRequired, InvalidValue
from agenthost.host.access.identity import Identity
from agenthost.host.authoring.agent import Agent
from agenthost.host.state.session import Session
from agenthost.logs import hide_client_secret
from agenthost.wire.ahp.common import ProtectedResourceMetadata

__all__ = ["BEGINNINGS", "NOBODY", "Tokens"]

BEGINNINGS = frozenset({"chat/turnStarted", "chat/pendingMessageSet"})
"""The types of actions that `Tokens.dispatched` handles."""

MAX_WAITING = 100
"""For how many pending messages of a session the sender is remembered: the newest ones."""

NOBODY = Identity("")
"""The identity of no client; it has no tokens."""


class _Token(NamedTuple):
    """A token, and when it expires."""

    text: str
    ends: float


class Tokens:
    """The tokens of all clients, for the resources that the agents declare."""

    def __init__(self, agents: Mapping[str, Agent]) -> None:
        self._agents = agents
        self._tokens: dict[Identity, dict[str, _Token]] = {}
        # Weak: these go when the session leaves memory.
        self._began: WeakKeyDictionary[Session, Identity] = WeakKeyDictionary()
        # Who sent the pending messages, by their ids.
        self._senders: WeakKeyDictionary[Session, dict[str, Identity]] = WeakKeyDictionary()

    async def take(self, client: Identity, resource: str, token: str, seconds: float | None = None) -> None:
        """Store a token for a resource, replacing an earlier one (HR-P03).

        It is forgotten after so many seconds, if it expires.

        Raises:
            InvalidValue: no agent declares that resource.
            AuthRequired: an agent says that the token is not valid.
        """
        # HR-P05. First, so that a refused token is not logged either.
        hide_client_secret(token)
        agents = [agent for agent in self._agents.values() if resource in _resources(agent)]
        if not agents:
            raise InvalidValue("$.resource", "a resource that an agent declares", repr(resource))
        for agent in agents:
            if not token or not await agent.accepts(resource, token):
                raise AuthRequired([_resources(agent)[resource]])
        ends = inf if seconds is None else monotonic() + seconds
        self._tokens.setdefault(client, {})[resource] = _Token(token, ends)

    def take_back(self, client: Identity, resource: str) -> None:
        """Forget one token of a client."""
        self._held(client).pop(resource, None)

    def _held(self, client: Identity) -> "dict[str, _Token]":
        """Return the tokens of a client that have not expired."""
        held = self._tokens.get(client, {})
        # Checked on use, so that no timer is needed.
        for resource in [name for name, one in held.items() if one.ends <= monotonic()]:
            del held[resource]
        return held

    def check(self, client: Identity, agent: Agent) -> None:
        """Refuse to use an agent that needs a token which this client has not sent.

        Raises:
            AuthRequired: the resources whose tokens are missing (HR-P02).
        """
        if (missing := self.missing(client, agent)) is not None:
            raise missing

    def missing(self, client: Identity, agent: Agent) -> AuthRequired | None:
        """Return what `check` would raise, if anything."""
        found = self._missing(client, agent) if agent.protected_resources else []
        return AuthRequired(found) if found else None

    def _missing(self, client: Identity, agent: Agent) -> list[ProtectedResourceMetadata]:
        held = self._held(client)
        return [
            metadata
            for resource, metadata in _resources(agent).items()
            if metadata.get("required", True) and resource not in held
        ]

    # Turns

    def lacks(self, session: Session, client: Identity) -> AuthRequired | None:
        """Return why this client may not start a turn in a session; `None` if it may."""
        agent = self._agents.get(session.state["provider"])
        return None if agent is None else self.missing(client, agent)

    def dispatched(self, session: Session, action: ConversationAction, client: Identity | None) -> None:
        """Record who starts a turn or sends a pending message; actions of the host have no client."""
        waiting = self._senders.get(session, {})
        match action["type"]:
            case "chat/turnStarted" if client is not None:
                self.begin(session, client)
            # HR-P01: a queued message uses the tokens of the client that sent it, whoever is connected now.
            case "chat/turnStarted" if "queuedMessageId" in action:
                self.begin(session, waiting.pop(action["queuedMessageId"], NOBODY))
            case "chat/pendingMessageSet" if client is not None:
                newest = [(name, who) for name, who in waiting.items() if name != action["id"]]
                self._senders[session] = dict([*newest[1 - MAX_WAITING :], (action["id"], client)])

    def begin(self, session: Session, client: Identity) -> None:
        """Record for which client the next turn of a session runs."""
        self._began[session] = client

    def beginner(self, session: Session) -> Identity:
        """Return for which client the newest turn of a session runs; unknown after a restart."""
        return self._began.get(session, NOBODY)

    def of(self, client: Identity | None) -> Mapping[str, str]:
        """Return the tokens of a client, by resource."""
        return {resource: one.text for resource, one in self._held(client or NOBODY).items()}

    def forget(self, client: Identity) -> None:
        """Forget a client's tokens."""
        self._tokens.pop(client, None)


def _resources(agent: Agent) -> dict[str, ProtectedResourceMetadata]:
    return {metadata["resource"]: metadata for metadata in agent.protected_resources}
