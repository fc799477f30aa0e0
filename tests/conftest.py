"""Settings of all tests: properties take the time they need, and where it counts draw the same each run.

`./check` draws fewer examples than `./check long`, and `./check fast` fewer still: `--hypothesis-profile`.
With `--store postgres`, hosts in the test's own process keep their data in PostgreSQL.
"""

import os
import signal
from collections.abc import Iterator
from importlib import import_module

import pytest
from hypothesis import settings

# A run in the background ignores Ctrl-C, and so would every server and command that a test starts.
signal.signal(signal.SIGINT, signal.default_int_handler)

settings.register_profile("agenthost", deadline=None, derandomize="CI" in os.environ, print_blob=True)
settings.register_profile("check", settings.get_profile("agenthost"), max_examples=25)
settings.register_profile("fast", settings.get_profile("agenthost"), max_examples=4)
settings.load_profile("agenthost")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--store", choices=["sqlite", "postgres"], default="sqlite")


@pytest.fixture(autouse=True)
def _chosen_store(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    if request.config.getoption("--store") == "sqlite":
        yield
        return
    databases = import_module("databases")  # here: most runs need no driver
    if databases.programs() is None:
        pytest.skip("PostgreSQL's programs are not here")
    if request.node.get_closest_marker("sqlite"):
        pytest.skip("is about the files of SQLite")
    with databases.in_place_of_folders() as make:
        for module in ("agenthost.host.host", "agenthost.host.offline", "hosting"):
            monkeypatch.setattr(f"{module}.SqliteStorage", make)
        yield
