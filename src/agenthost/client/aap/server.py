"""The server: its version and its agents, asked for once, and what has to be closed with it."""

import asyncio
from contextlib import suppress
from typing import Protocol, TypeVar
from weakref import WeakSet

from agenthost.client.aap.errors import AapError, NotAap, NotFound
from agenthost.client.aap.transport import Transport
from agenthost.client.aap.versions import VERSIONS, Version
from agenthost.errors import InvalidValue
from agenthost.wire.aap import VERSIONED, v3
from agenthost.wire.json import Json

__all__ = ["Server"]

AAP_PATH = "/aap"
"""Where agenthost serves AAP."""


class Closable(Protocol):
    """Anything that can be closed."""

    async def aclose(self) -> None:
        """Close it."""


C = TypeVar("C", bound=Closable)


class Server:
    """An AAP server of any version."""

    def __init__(self, transport: Transport) -> None:
        self.transport = transport
        self._open: WeakSet[Closable] = WeakSet()
        self._known: tuple[Version, v3.GetMetaResponse] | None = None
        self._asking = asyncio.Lock()

    def track(self, one: C) -> C:
        """Close this before the connections are closed; returns it."""
        self._open.add(one)
        return one

    async def aclose(self) -> None:
        """Close everything that is tracked, then all connections."""
        for one in list(self._open):
            # A turn that is being iterated right now cannot be closed; it ends with its connection.
            with suppress(RuntimeError):
                await one.aclose()
        await self.transport.aclose()

    async def version(self) -> Version:
        """Return the version that the server speaks.

        Raises:
            AapError: it cannot be reached, or is not an AAP server.
        """
        return (await self._describe())[0]

    async def meta(self) -> v3.GetMetaResponse:
        """Return the description of the server, in the form of version 3.

        Raises:
            AapError: it cannot be reached, or is not an AAP server.
        """
        return (await self._describe())[1]

    async def agent(self, name: str) -> v3.AgentInfo | None:
        """Return the description of an agent; None if the server does not list it."""
        meta = await self.meta()
        return next((agent for agent in meta["agents"] if agent["name"] == name), None)

    def violation(self, error: Exception) -> NotAap:
        """Return the error for an answer that is not what AAP says."""
        return NotAap(f"the server at {self.transport.url} violates AAP: {error}")

    async def _describe(self) -> tuple[Version, v3.GetMetaResponse]:
        async with self._asking:
            if self._known is None:
                self._known = await self._ask()
            return self._known

    async def _probe_aap_path(self) -> Json:
        """Try `/aap`, where agenthost serves AAP, if the URL has no path."""
        if not self.transport.has_no_path:
            return None
        with suppress(AapError):
            body = await self.transport.get(f"{AAP_PATH}/meta")
            self.transport.url += AAP_PATH
            return body
        return None

    async def _ask(self) -> tuple[Version, v3.GetMetaResponse]:
        try:
            body = await self.transport.get("/meta")
        except NotFound as error:
            body = await self._probe_aap_path()
            if body is None:
                sentence = f"there is no AAP server at {self.transport.url}: it has no /meta"
                raise NotAap(sentence, status=error.status, code=error.code) from error
        url = self.transport.url
        try:
            number = VERSIONED.take(body)["version"]
            version = VERSIONS.get(int(number))
            if version is None or version.number != number:
                raise NotAap(
                    f"the server at {url} speaks AAP version {number:g}; this client speaks 1, 2 and 3"
                )
            return version, version.meta(body)
        except InvalidValue as error:
            raise self.violation(error) from error
