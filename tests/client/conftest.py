"""One server with the demo agent for all client tests; each test creates its own sessions."""

from collections.abc import Iterator

import pytest

from aap_servers import demo_server


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with demo_server(tmp_path_factory.mktemp("server")) as url:
        yield url


@pytest.fixture(params=[1, 2, 3], ids=lambda number: f"v{number}")
def base(server: str, request: pytest.FixtureRequest) -> str:
    """Return the base URL of each version of AAP."""
    return f"{server}/aap/v{request.param}"
