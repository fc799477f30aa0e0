"""One server for all tests of the chat; each test creates its own sessions."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from serving import serving, wait_ready


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    folder = tmp_path_factory.mktemp("chat")
    workspace = folder / "workspace"
    workspace.mkdir()
    (workspace / "read me.txt").write_text("hello\n")
    (workspace / "notes.md").write_text("# Notes\n")
    agents = Path(__file__).parent / "agents.py"
    with serving(agents, "--data", folder / "data", "--workspace", workspace) as served:
        url = served.wait_url()
        wait_ready(url)
        yield url
