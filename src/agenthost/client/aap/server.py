"""The server: the way to it, and what it says of itself, asked once."""

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


BELOW = "/aap"


class Closable(Protocol):
    """Something that can be closed."""

    async def aclose(self) -> None:
        """Close it."""


C = TypeVar("C", bound=Closable)


class Server:
    """A server of AAP, of whichever version."""

    def __init__(self, transport: Transport) -> None:
        self.transport = transport
        self._open: WeakSet[Closable] = WeakSet()
        self._known: tuple[Version, v3.GetMetaResponse] | None = None
        self._asking = asyncio.Lock()

    def opened(self, one: C) -> C:
        """Remember something that has to be closed before the connections are."""
        self._open.add(one)
        return one

    async def aclose(self) -> None:
        """Close what is open, and all connections."""
        for one in list(self._open):
            # One that somebody waits for at this moment hears of it by its connection.
            with suppress(RuntimeError):
                await one.aclose()
        await self.transport.aclose()

    async def version(self) -> Version:
        """Give the version that it speaks.

        Raises:
            AapError: it cannot be asked, or is no AAP server.
        """
        return (await self._know())[0]

    async def meta(self) -> v3.GetMetaResponse:
        """Give what it says of itself, in the words of version 3.

        Raises:
            AapError: it cannot be asked, or is no AAP server.
        """
        return (await self._know())[1]

    async def agent(self, name: str) -> v3.AgentInfo | None:
        """Give the description of an agent, if the server tells of it."""
        meta = await self.meta()
        return next((agent for agent in meta["agents"] if agent["name"] == name), None)

    def broke_rules(self, error: Exception) -> NotAap:
        """Say that what came is not what AAP asks for."""
        return NotAap(f"the server at {self.transport.url} does not keep to AAP: {error}")

    async def _know(self) -> tuple[Version, v3.GetMetaResponse]:
        async with self._asking:
            if self._known is None:
                self._known = await self._ask()
            return self._known

    async def _look_below(self) -> Json:
        """Look below `/aap`, where agenthost has it, if all that is known is the server."""
        if not self.transport.is_server_alone:
            return None
        with suppress(AapError):
            body = await self.transport.get(f"{BELOW}/meta")
            self.transport.url += BELOW
            return body
        return None

    async def _ask(self) -> tuple[Version, v3.GetMetaResponse]:
        try:
            body = await self.transport.get("/meta")
        except NotFound as error:
            body = await self._look_below()
            if body is None:
                sentence = f"there is no AAP server at {self.transport.url}: it has no /meta"
                raise NotAap(sentence, status=error.status, code=error.code) from error
        url = self.transport.url
        try:
            number = VERSIONED.take(body)["version"]
            version = VERSIONS.get(int(number))
            if version is None or version.number != number:
                raise NotAap(
                    f"the server at {url} speaks version {number:g} of AAP; known here are 1, 2 and 3"
                )
            return version, version.meta(body)
        except InvalidValue as error:
            raise self.broke_rules(error) from error
