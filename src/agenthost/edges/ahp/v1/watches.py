"""Watches of files over AHP 1.0: each is a channel of the connection that created it.

Nothing is read before the channel is subscribed to, and a watch ends with its subscription or its connection.
Changes have numbers like everything else, but no log: a client that comes back creates its watches anew.
"""

import asyncio
import secrets
from collections.abc import Callable
from typing import Any

from agenthost.core import actions
from agenthost.errors import HostError, SessionNotFound
from agenthost.host.client import HostClient
from agenthost.host.files.watches.watch import ResourceWatch
from agenthost.host.log.subscriptions import LogItem
from agenthost.wire.ahp.resource import ResourceWatchState
from agenthost.wire.json import Json

__all__ = ["Watches"]


class Watches:
    """The watches of one connection, by their channels."""

    def __init__(self, host: HostClient) -> None:
        self._host = host
        self._watches: dict[str, ResourceWatch] = {}
        self._readers: dict[str, asyncio.Task[None]] = {}

    async def create(self, params: Any) -> Json:
        """Create a watch, and return its channel. Raises like `ClientFiles.create_watch`."""
        includes = params.get("includes")
        watch = await self._host.files.create_watch(
            params["uri"],
            recursive=params.get("recursive", False),
            includes=None if includes is None else includes["items"],
            excludes=params.get("excludes", {"items": []})["items"],
            must_exist=True,
        )
        channel = f"ahp-resource-watch:/{secrets.token_hex(8)}"
        self._watches[channel] = watch
        return {"channel": channel}

    def __contains__(self, channel: str) -> bool:
        return channel in self._watches

    def subscribe(self, channel: str, deliver: Callable[[LogItem], None]) -> ResourceWatchState:
        """Report changes from now on, and return what is watched; `deliver` sends an item to the client."""
        self._host.rights.check("subscribe/watch")
        watch = self._watches.get(channel)
        if watch is None:
            raise SessionNotFound(channel)
        # A second subscription to a watch shares its reader.
        if channel not in self._readers:
            self._readers[channel] = asyncio.create_task(self._read(channel, watch, deliver))
        info = watch.info
        state: ResourceWatchState = {"root": info.uri, "recursive": info.recursive}
        if info.includes is not None:
            state["includes"] = {"items": list(info.includes)}
        if info.excludes:
            state["excludes"] = {"items": list(info.excludes)}
        return state

    async def _read(self, channel: str, watch: ResourceWatch, deliver: Callable[[LogItem], None]) -> None:
        try:
            async for changes in watch:
                changed: Any = {"items": changes}
                self._host.announce(channel, actions.watched_changed(changed), deliver)
        except HostError:
            self.unsubscribe(channel)  # the client may no longer see it

    def unsubscribe(self, channel: str) -> None:
        """End a watch."""
        watch, reader = self._watches.pop(channel, None), self._readers.pop(channel, None)
        if watch is not None:
            watch.close()
        if reader is not None:
            reader.cancel()

    def close(self) -> None:
        """End all watches."""
        for channel in list(self._watches):
            self.unsubscribe(channel)
