"""Tokens: what clients hand over so that agents can use protected resources on their behalf.

They belong to the client that brought them, are kept in memory only, and are never shown or logged.
"""

from collections.abc import Mapping

from agenthost.errors import AuthRequired, InvalidValue
from agenthost.host.agent import Agent
from agenthost.wire.ahp.common import ProtectedResourceMetadata

__all__ = ["Tokens"]


class Tokens:
    """The tokens of all clients, for the resources that the agents declare."""

    def __init__(self, agents: Mapping[str, Agent]) -> None:
        self._agents = agents
        self._tokens: dict[str, dict[str, str]] = {}

    async def take(self, client_id: str, resource: str, token: str) -> None:
        """Take a token for a resource, in place of an earlier one.

        Raises:
            InvalidValue: no agent declares that resource.
            AuthRequired: an agent says that the token is no good.
        """
        agents = [agent for agent in self._agents.values() if resource in _resources(agent)]
        if not agents:
            raise InvalidValue("$.resource", "a resource that an agent declares", repr(resource))
        for agent in agents:
            if not token or not await agent.accepts(resource, token):
                raise AuthRequired([_resources(agent)[resource]])
        self._tokens.setdefault(client_id, {})[resource] = token

    def check(self, client_id: str, agent: Agent) -> None:
        """Refuse work with an agent that needs a token which this client has not brought.

        Raises:
            AuthRequired: it names what is missing.
        """
        held = self._tokens.get(client_id, {})
        missing = [
            metadata
            for resource, metadata in _resources(agent).items()
            if metadata.get("required", True) and resource not in held
        ]
        if missing:
            raise AuthRequired(missing)

    def of(self, client_id: str | None) -> Mapping[str, str]:
        """Give the tokens of a client, by resource."""
        return dict(self._tokens.get(client_id or "", {}))

    def forget(self, client_id: str) -> None:
        """Forget a client's tokens."""
        self._tokens.pop(client_id, None)


def _resources(agent: Agent) -> dict[str, ProtectedResourceMetadata]:
    return {metadata["resource"]: metadata for metadata in agent.protected_resources}
