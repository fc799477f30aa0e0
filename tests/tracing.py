"""How long the page keeps its thread busy: traced by Chromium itself.

In CPU time, not on the clock: what else the machine is doing does not count.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from browsing import Tab

__all__ = ["Trace", "traced"]

TASK = "ThreadControllerImpl::RunTask"
MAIN = "CrRendererMain"


class Trace:
    """What was traced.

    Attributes:
        events: as Chromium has them.
        tasks: how long each task of a page took of a CPU, in milliseconds. A frame that is drawn is one task.
    """

    def __init__(self) -> None:
        self.events: list[dict[str, Any]] = []

    @property
    def tasks(self) -> list[float]:
        threads = {
            (event["pid"], event["tid"])
            for event in self.events
            if event["name"] == "thread_name" and event["args"]["name"] == MAIN
        }
        tasks = [event for event in self.events if event["name"] == TASK and event.get("ph") == "X"]
        return [task.get("tdur", 0) / 1000 for task in tasks if (task["pid"], task["tid"]) in threads]


@contextmanager
def traced(tab: Tab) -> Iterator[Trace]:
    """Trace what the browser does meanwhile."""
    browser = tab.page.context.browser
    assert browser
    trace, ended = Trace(), []
    session = browser.new_browser_cdp_session()
    session.on("Tracing.dataCollected", lambda event: trace.events.extend(event["value"]))
    session.on("Tracing.tracingComplete", lambda _event: ended.append(True))
    categories = {"includedCategories": ["toplevel"], "excludedCategories": ["*"]}
    session.send("Tracing.start", {"traceConfig": categories, "transferMode": "ReportEvents"})
    yield trace
    session.send("Tracing.end")
    while not ended:
        tab.page.wait_for_timeout(20)  # this lets Playwright hear what has come
    session.detach()
