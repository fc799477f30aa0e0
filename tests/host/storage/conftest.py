"""Both stores, for tests of what every store does, and PostgreSQL for those that are about it."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from agenthost.host.storage import Storage
from databases import STORES, Postgres, new_store, own_schema, shared_postgres


@pytest.fixture(params=STORES)
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Storage]:
    """Give a store that is open, and whose numbers a test can name."""
    with new_store(request.param, tmp_path) as made:
        made.open()
        yield made


@pytest.fixture
def server() -> Postgres:
    """Return the server for all tests that do not stop it."""
    return shared_postgres()


@pytest.fixture
def schema(server: Postgres) -> Iterator[str]:
    """Give the name of a schema that does not exist yet."""
    with own_schema(server) as name:
        yield name
