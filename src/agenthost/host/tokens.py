"""Tokens: what clients hand over so that agents can use protected resources on their behalf.

They belong to the client that brought them, are kept in memory only, and are never shown or logged. A turn of
an agent that needs one begins only for a client that brought it, whatever way it comes: from a client, from
the queue, over a protocol that has no tokens, or as a task of another agent.
"""

from collections.abc import Mapping
from typing import Any
from weakref import WeakKeyDictionary

from agenthost.errors import AuthRequired, InvalidValue
from agenthost.host.agent import Agent
from agenthost.host.identity import Identity
from agenthost.host.session import Session
from agenthost.logs import hide_passing
from agenthost.wire.ahp.common import ProtectedResourceMetadata

__all__ = ["BEGINNINGS", "NOBODY", "Tokens"]

BEGINNINGS = frozenset({"session/turnStarted", "session/pendingMessageSet"})
"""What `Tokens.dispatched` has to know of."""

MAX_WAITING = 100
"""Of how many messages that wait in a session it is known whose they are, the newest."""

NOBODY = Identity("")
"""In place of a client where there is none: it has no tokens."""


class Tokens:
    """The tokens of all clients, for the resources that the agents declare."""

    def __init__(self, agents: Mapping[str, Agent]) -> None:
        self._agents = agents
        self._tokens: dict[Identity, dict[str, str]] = {}
        self._began: WeakKeyDictionary[Session, Identity] = WeakKeyDictionary()
        self._senders: WeakKeyDictionary[Session, dict[str, Identity]] = WeakKeyDictionary()  # of what waits

    async def take(self, client: Identity, resource: str, token: str) -> None:
        """Take a token for a resource, in place of an earlier one.

        Raises:
            InvalidValue: no agent declares that resource.
            AuthRequired: an agent says that the token is no good.
        """
        hide_passing(token)
        agents = [agent for agent in self._agents.values() if resource in _resources(agent)]
        if not agents:
            raise InvalidValue("$.resource", "a resource that an agent declares", repr(resource))
        for agent in agents:
            if not token or not await agent.accepts(resource, token):
                raise AuthRequired([_resources(agent)[resource]])
        self._tokens.setdefault(client, {})[resource] = token

    def check(self, client: Identity, agent: Agent) -> None:
        """Refuse work with an agent that needs a token which this client has not brought.

        Raises:
            AuthRequired: it names what is missing.
        """
        if missing := self._missing(client, agent):
            raise AuthRequired(missing)

    def _missing(self, client: Identity, agent: Agent) -> list[ProtectedResourceMetadata]:
        held = self._tokens.get(client, {})
        return [
            metadata
            for resource, metadata in _resources(agent).items()
            if metadata.get("required", True) and resource not in held
        ]

    # Turns

    def lacks(self, session: Session, client: Identity) -> str | None:
        """Say why this client may not begin a turn in a session; `None` if it may."""
        agent = self._agents.get(session.state["summary"]["provider"])
        missing = self._missing(client, agent) if agent is not None else []
        return str(AuthRequired(missing)) if missing else None

    def dispatched(self, session: Session, action: Any, client: Identity | None) -> None:
        """Note who begins a turn or lets a message wait; what the host does by itself has no client."""
        waiting = self._senders.get(session, {})
        match action["type"]:
            case "session/turnStarted" if client is not None:
                self.begin(session, client)
            case "session/turnStarted" if "queuedMessageId" in action:
                self.begin(session, waiting.pop(action["queuedMessageId"], NOBODY))
            case "session/pendingMessageSet" if client is not None:
                newest = [(name, who) for name, who in waiting.items() if name != action["id"]]
                self._senders[session] = dict([*newest[1 - MAX_WAITING :], (action["id"], client)])

    def begin(self, session: Session, client: Identity) -> None:
        """Note for whom the next turn of a session is."""
        self._began[session] = client

    def beginner(self, session: Session) -> Identity:
        """Return for whom the newest turn of a session is; after a restart nobody knows."""
        return self._began.get(session, NOBODY)

    def of(self, client: Identity | None) -> Mapping[str, str]:
        """Give the tokens of a client, by resource."""
        return dict(self._tokens.get(client or NOBODY, {}))

    def forget(self, client: Identity) -> None:
        """Forget a client's tokens."""
        self._tokens.pop(client, None)


def _resources(agent: Agent) -> dict[str, ProtectedResourceMetadata]:
    return {metadata["resource"]: metadata for metadata in agent.protected_resources}
