"""One host with one acting program, for all tests that leave it as they found it."""

from collections.abc import Iterator

import pytest

from acp_acting import Served, acting, serving


@pytest.fixture(scope="session")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    folder = tmp_path_factory.mktemp("acting")
    with serving(folder / "host", acting(folder / "home")) as one:
        yield one
