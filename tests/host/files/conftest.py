"""What the tests of watches share."""

from collections.abc import Callable

import pytest

from agenthost.host.files.files import Files
from agenthost.host.files.watches import watch
from agenthost.host.files.watches.registry import Watches
from agenthost.host.limits import Limits

Switch = Callable[[Files], None]
"""Makes files watched in one way or the other."""


@pytest.fixture(params=["told", "polled"])
def switch(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Switch:
    """Once with the events of the system, and once without."""
    monkeypatch.setattr(watch, "POLL_SECONDS", 0.05)

    def switch(files: Files) -> None:
        files.watches = Watches(files.grants, Limits(), is_polled=request.param == "polled")

    return switch
