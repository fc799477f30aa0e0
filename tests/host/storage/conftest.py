"""Both stores, for tests of what every store does."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from agenthost.host.storage import Storage
from databases import STORES, new_store


@pytest.fixture(params=STORES)
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Storage]:
    """Give a store that is open, and whose numbers a test can name."""
    with new_store(request.param, tmp_path) as made:
        made.open()
        yield made
