"""Attendance: what waits for somebody in a session, and in those of the agents that work for its agent.

A subagent asks in its own session, which nobody has open. As long as the call runs that gave it its task,
what it asks is asked here, with its name.
"""

import asyncio
from typing import Any, NoReturn

from agenthost.cli.chat.calls import blocks_of
from agenthost.cli.chat.deciding import Decider, Desk
from agenthost.cli.chat.hearing import Hearing
from agenthost.client.ahp import AhpError, Session
from agenthost.wire.ahp.actions.text import TextAction

__all__ = ["Attendance"]


class Attendance:
    """Attends one session, and those below it."""

    def __init__(self, desk: Desk, session: Session, hearing: Hearing, who: str = "") -> None:
        self._desk = desk
        self._session = session
        self._decider = Decider(desk, session, hearing, who)
        self._below: dict[str, asyncio.Task[None]] = {}

    async def run(self) -> NoReturn:
        """Attend, for as long as the session is there.

        Raises:
            AhpError: it is not there any more.
        """
        following = asyncio.create_task(self._follow())
        try:
            await self._decider.run()
        finally:
            for task in (following, *self._below.values()):
                task.cancel()
            await asyncio.gather(following, *self._below.values(), return_exceptions=True)

    async def _follow(self) -> None:
        changes = self._session.changes()
        try:
            self._look()
            async for change in changes:
                if not changes.has_more and not isinstance(change.action, TextAction):
                    self._look()
        finally:
            changes.close()

    def _look(self) -> None:
        """Attend the subagents of calls that run, and those of others no more."""
        calls: list[Any] = [call for call in self._session.calls if call["status"] == "running"]
        blocks = {block["resource"]: block for call in calls for block in blocks_of(call, "subagent")}
        for uri in [uri for uri in self._below if uri not in blocks]:
            self._below.pop(uri).cancel()
        for uri, block in blocks.items():
            if uri not in self._below:
                self._below[uri] = asyncio.create_task(self._attend(uri, block))

    async def _attend(self, uri: str, block: Any) -> None:
        hearing = Hearing(self._desk.client.client_id)
        try:
            session = await self._desk.client.session(uri)
        except AhpError:
            return  # not for us, or gone already
        stop = session.listen(hearing.hear)
        try:
            await Attendance(self._desk, session, hearing, block.get("agentName") or block["title"]).run()
        except AhpError:
            return
        finally:
            stop()
            session.close()
