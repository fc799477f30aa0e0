"""The list of nodes, as the store has it. Reading it makes nobody a node."""

from agenthost.host.storage.postgres.connections import Connection

__all__ = ["read_node_url"]

_URL = "SELECT to_jsonb(node) ->> 'url' FROM node WHERE id = $1 AND NOT is_dead"


async def read_node_url(connection: Connection, node: int) -> str | None:
    """Return the URL of a node that is alive, if it has one."""
    url: str | None = await connection.fetchval(_URL, node)
    return url
