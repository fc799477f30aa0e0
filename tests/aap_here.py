"""A server in this process that speaks AAP, with a way into its event loop: to look from the other side."""

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

from hosting import TIMEOUT
from sites import Site

T = TypeVar("T")


class Here:
    """The server, and the way into its event loop."""

    def __init__(self, site: Site, loop: asyncio.AbstractEventLoop) -> None:
        self.site, self.url, self._loop = site, site.url, loop

    def run(self, story: Coroutine[Any, Any, T]) -> T:
        """Run something on the server's own event loop, such as what a client of the other protocol does."""
        return asyncio.run_coroutine_threadsafe(story, self._loop).result(TIMEOUT)

    def uri_of(self, session: str) -> str:
        """Return the URI of a session, by which the other protocol knows it."""
        return self.run(self.site.host.parts.engine.sessions.named(session)).row.uri
