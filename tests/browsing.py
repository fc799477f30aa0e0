"""The page in a real browser: the system's Chromium, driven by Playwright.

A tab fails its test when the page logs an error, breaks its Content-Security-Policy, or asks another server
for anything. `./check` installs Chromium where it can, builds the page where there is Node, and says so by
AGENTHOST_BROWSER: one that is missing after that is a failure, not a skip.
"""

import os
import re
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Page, Request, sync_playwright

from agenthost.edges.page import Page as Built

__all__ = [
    "ARGUMENTS",
    "MILLISECONDS",
    "UNREACHABLE",
    "OpenTab",
    "Tab",
    "browsing",
    "find_browser",
    "opened",
    "showing_scrollbars",
]

NAMES = ("chromium", "chromium-browser", "google-chrome")

# No sandbox, as tests may run as root in a container; and nothing that a browser asks its maker by itself.
ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]

MILLISECONDS = 20_000
"""How long anything may take."""

UNREACHABLE = r"WebSocket connection to .* failed|Failed to load resource: net::ERR_"
"""What Chromium itself logs when a server is away."""

# Policy violations are told to the page; this gathers them where a test can see them.
WATCH_POLICY = """
    addEventListener("securitypolicyviolation", (event) =>
        console.error(`policy violated: ${event.violatedDirective} ${event.blockedURI} ${event.sample}`));
"""


class Tab:
    """A tab with the page, and what went wrong in it.

    Attributes:
        page: Playwright's own.
        asked: the addresses of all that was asked for.
        sent: how many bytes the bodies had that came, as they were sent.
    """

    def __init__(self, context: BrowserContext, url: str) -> None:
        self.page: Page = context.new_page()
        self.asked: list[str] = []
        self.sent: dict[str, int] = {}
        self._url = url
        self._problems: list[str] = []
        self._forgiven: list[str] = []
        self.page.set_default_timeout(MILLISECONDS)
        self.page.add_init_script(WATCH_POLICY)
        self.page.on("console", self._heard)
        self.page.on("pageerror", lambda error: self._problems.append(f"{error.name}: {error.message}"))
        self.page.on("request", lambda request: self.asked.append(request.url))
        self.page.on("websocket", lambda socket: self.asked.append(socket.url))
        self.page.on("requestfinished", self._finished)
        self.page.on("requestfailed", self._failed)

    def _heard(self, message: ConsoleMessage) -> None:
        if message.type in ("error", "warning"):
            self._problems.append(message.text)

    def _finished(self, request: Request) -> None:
        self.sent[request.url] = request.sizes()["responseBodySize"]

    def _failed(self, request: Request) -> None:
        if request.failure == "csp":  # the policy kept it from being asked for
            self.asked.remove(request.url)

    def open(self, path: str = "/", *, until: str = "connected") -> "Tab":
        """Load the page, and wait until its connection is so."""
        self.page.goto(self._url + path)
        self.wait(until)
        return self

    def wait(self, phase: str) -> None:
        """Wait until the connection is so: `connected`, `waiting`, `locked`, `failed`."""
        self.page.wait_for_selector(f'html[data-connection="{phase}"]', state="attached")

    def run(self, script: str, argument: Any = None) -> Any:
        """Run a script in the page; `client` is the page's own."""
        return self.page.evaluate(
            f"async (argument) => {{ const {{ client }} = agenthost; {script} }}", argument
        )

    def until(self, condition: str, argument: Any = None) -> None:
        """Wait until an expression is true in the page."""
        self.page.wait_for_function(
            f"(argument) => {{ const {{ client }} = agenthost; return {condition} }}", arg=argument
        )

    def forgive(self, pattern: str) -> None:
        """Expect an error that the page, or the browser, logs."""
        self._forgiven.append(pattern)

    @property
    def problems(self) -> list[str]:
        """What went wrong and was not expected."""
        asked = self._url.partition("://")[2]
        foreign = [url for url in self.asked if not re.match(rf"(data|blob):|(http|ws)://{asked}/", url)]
        unexpected = [
            text for text in self._problems if not any(re.search(each, text) for each in self._forgiven)
        ]
        return [*unexpected, *(f"asked another server: {url}" for url in foreign)]


OpenTab = Callable[..., Tab]
"""Opens a window with the page at an address."""


def find_browser() -> str | None:
    """Return where the browser is, if there is one."""
    return next((path for name in NAMES if (path := shutil.which(name))), None)


@contextmanager
def browsing() -> Iterator[Browser]:
    """Start the browser; skips the test where there is none, or no page to look at."""
    found = find_browser()
    if found is None or not Built().is_built:
        missing = "Chromium is not installed" if found is None else "the page is not built"
        if os.environ.get("AGENTHOST_BROWSER"):
            pytest.fail(f"{missing}, though ./check has seen to it")
        pytest.skip(f"{missing}: ./check sees to it")
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=found, args=ARGUMENTS)
        try:
            yield browser
        finally:
            browser.close()


@contextmanager
def showing_scrollbars(browser: Browser) -> Iterator[Browser]:
    """Start another browser like this one, with the scrollbars that tests otherwise do without."""
    path = find_browser()
    hidden = ["--hide-scrollbars"]
    other = browser.browser_type.launch(executable_path=path, args=ARGUMENTS, ignore_default_args=hidden)
    try:
        yield other
    finally:
        other.close()


@contextmanager
def opened(browser: Browser, url: str, **options: Any) -> Iterator[Tab]:
    """Return a tab of a window of its own: nothing is shared with others, as if of another person."""
    context = browser.new_context(**options)
    tab = Tab(context, url)
    try:
        yield tab
        if tab.problems:
            pytest.fail("\n".join(["in the page:", *tab.problems]))
    finally:
        context.close()
