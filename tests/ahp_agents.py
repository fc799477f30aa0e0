"""Agents for the tests of AHP: one that needs tokens, one that echoes, one that never gets ready."""

import asyncio
from collections.abc import Callable
from typing import Any

from agenthost.core.legacy.customizations import lift_plugin
from agenthost.host.authoring.agent import Agent, Model
from agenthost.host.authoring.turn import Turn

LOGIN: Any = {
    "resource": "https://api.example.org",
    "resource_name": "Example",
    "authorization_servers": ["https://id.example.org"],
}
EXTRA: Any = {"resource": "https://extra.example.org", "required": False}
PLUGIN: Any = {"uri": "https://plugins.example.org/host", "displayName": "Of the host"}


async def echo(turn: Turn) -> None:
    """Say back what was said; take in what comes meanwhile."""
    if turn.text == "/steer":
        await turn.ask("Go on?")
        steering = await turn.steering()
        await turn.say(f"steered by {steering['content']}" if steering else "not steered")
        return
    if turn.text == "/show":
        await turn.show(b"\x00\xff", "application/octet-stream")
        await turn.show("plain", "text/plain")
    await turn.activity("Echoing" if turn.text == "/activity" else None)
    await turn.say(turn.text)
    await turn.activity(None)


class Guarded(Agent):
    """Takes only tokens that begin with `good`."""

    async def accepts(self, resource: str, token: str) -> bool:
        return token.startswith("good")


class Unready(Agent):
    """Never gets ready for a session."""

    async def prepare(self, session: str) -> None:
        raise RuntimeError("no room")


class Slow(Agent):
    """Gets ready for a session that is held when it is let go; for bad ones never."""

    def __init__(self) -> None:
        super().__init__("slow", echo)
        self._held: dict[str, asyncio.Event] = {}

    def hold(self, session: str) -> Callable[[], None]:
        """Hold a session that is to be made; returns what lets it go."""
        self._held[session] = asyncio.Event()
        return self._held[session].set

    async def prepare(self, session: str) -> None:
        await self._held[session].wait()
        if session.endswith("bad"):
            raise RuntimeError("no room")


SLOW = Slow()
GUARDED = Guarded("guarded", echo, protected_resources=[LOGIN, EXTRA])
UNREADY = Unready("unready", echo)
ECHO = Agent("echo", echo, customizations=[lift_plugin(PLUGIN)], models=[Model("small"), Model("large")])
