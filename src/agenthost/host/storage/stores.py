"""The stores that others can reach, by their addresses. Their library is imported when one is used."""

import importlib
from typing import TYPE_CHECKING, Any

from agenthost.errors import StorageError

if TYPE_CHECKING:
    from agenthost.host.storage.postgres.documents import StoredDocuments
    from agenthost.host.storage.postgres.levels import Migrated
    from agenthost.host.storage.postgres.node_list import ListedNode
    from agenthost.host.storage.postgres.store import PostgresStorage

__all__ = ["drain_node", "migrate_store", "shared_documents", "shared_nodes", "shared_store"]


def shared_store(*args: Any, **options: Any) -> "PostgresStorage":
    """Return a store; see `PostgresStorage`.

    Raises:
        StorageError: its library is not installed.
    """
    store: PostgresStorage = _load("store").PostgresStorage(*args, **options)
    return store


def shared_documents(*args: Any, **options: Any) -> "StoredDocuments":
    """Return the documents of a store; see `StoredDocuments`. Raises as `shared_store` does."""
    documents: StoredDocuments = _load("documents").StoredDocuments(*args, **options)
    return documents


def shared_nodes(*args: Any, **options: Any) -> "list[ListedNode]":
    """Return the nodes of a store; see `list_nodes`. Raises as `shared_store` does."""
    nodes: list[ListedNode] = _load("node_list").list_nodes(*args, **options)
    return nodes


def drain_node(*args: Any) -> None:
    """Tell a node of a store to stop; see `ask_to_leave`. Raises as `shared_store` does."""
    _load("node_list").ask_to_leave(*args)


def migrate_store(*args: Any, **options: Any) -> "Migrated":
    """Upgrade a store; see `migrate`. Raises as `shared_store` does."""
    migrated: Migrated = _load("levels").migrate(*args, **options)
    return migrated


def _load(name: str) -> Any:
    try:
        return importlib.import_module(f"agenthost.host.storage.postgres.{name}")
    except ModuleNotFoundError as error:
        if error.name != "asyncpg":
            raise
        raise StorageError(
            "a store in PostgreSQL needs the library asyncpg: install agenthost[postgres]"
        ) from None
