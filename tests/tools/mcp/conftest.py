"""The reference server behind a URL, once for all tests."""

from collections.abc import Callable, Iterator

import pytest

from agenthost.tools.mcp import McpServer
from mcp_serving import at_url, on_pipes


@pytest.fixture(scope="session")
def url() -> Iterator[str]:
    with at_url() as (url, _):
        yield url


@pytest.fixture(params=["stdio", "http"])
def every(request: pytest.FixtureRequest) -> Callable[..., McpServer]:
    """Declare the reference server, reached in each way."""
    if request.param == "stdio":
        return on_pipes
    url = request.getfixturevalue("url")
    return lambda **more: McpServer("every", url=url, **{"trusted": True, **more})
