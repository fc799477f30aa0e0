"""A browser and a server for each file of tests; windows for each test."""

from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any

import pytest
from playwright.sync_api import Browser

from browsing import OpenTab, Tab, browsing, opened
from journeys import STAGE, Stage, fill_workspace
from serving import serving

# For a file and no longer: Playwright keeps a loop running, which tests of other files would not like.


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with browsing() as browser:
        yield browser


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory, browser: Browser) -> Iterator[str]:
    """Serve the demo agent, with a workspace of its own."""
    folder = tmp_path_factory.mktemp("page")
    (folder / "work").mkdir()
    with serving("--data", folder / "data", "--workspace", folder / "work") as served:
        yield served.wait_url()


@pytest.fixture(scope="module")
def stage(tmp_path_factory: pytest.TempPathFactory, browser: Browser) -> Iterator[Stage]:
    """Serve the demo agent and that of `page_stage.py`, with some files to work on."""
    folder = tmp_path_factory.mktemp("stage")
    work = fill_workspace(folder / "work")
    with serving(STAGE, "--data", folder / "data", "--workspace", work) as served:
        yield Stage(served.wait_url(), work)


@pytest.fixture
def open_tab(browser: Browser) -> Iterator[OpenTab]:
    """Open windows of the page at an address; each fails the test if something goes wrong in it."""
    with ExitStack() as stack:

        def open_tab(url: str, path: str = "/", *, until: str = "connected", **options: Any) -> Tab:
            return stack.enter_context(opened(browser, url, **options)).open(path, until=until)

        yield open_tab
