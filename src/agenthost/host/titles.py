"""Titles: what sessions are called. At first after their first message, then as their agent suggests.

Agents are asked in the background, once the first turn is over, so that no turn waits for it. A title that
somebody else has given stays. Knows no protocol, and of agents only that they may have a suggestion.
"""

import asyncio
import logging
from collections.abc import Callable, Mapping
from typing import Any

from agenthost.errors import SessionNotFound
from agenthost.host.agent import Agent
from agenthost.host.dispatch import Happening
from agenthost.host.session import Session
from agenthost.host.sessions import Sessions
from agenthost.host.starting import NEW_TITLE, title_from

__all__ = ["Titles"]

log = logging.getLogger("agenthost.titles")

SECONDS = 60.0
"""How long an agent may think about a title."""


class Titles:
    """The titles of all sessions. `act` lets an action happen in one.

    Attributes:
        tasks: what asks agents at the moment.
    """

    def __init__(
        self, agents: Mapping[str, Agent], sessions: Sessions, act: Callable[[Session, Any], None]
    ) -> None:
        self._agents = agents
        self._sessions = sessions
        self._act = act
        self.tasks: set[asyncio.Task[None]] = set()

    def happened(self, happening: Happening) -> None:
        """Name a session when its first turn starts, and look for a better name when that is over."""
        kind = happening.action["type"]
        if kind == "session/turnStarted":
            self._name(happening.session)
        elif kind == "session/turnComplete" and len(happening.session.state["turns"]) == 1:
            self._improve(happening.session)

    def _name(self, session: Session) -> None:
        state = session.state
        if not state["turns"] and state["summary"]["title"] == NEW_TITLE:
            self._give(session, title_from(state["activeTurn"]["userMessage"]["text"]))

    def _give(self, session: Session, title: str) -> None:
        if title:
            self._act(session, {"type": "session/titleChanged", "session": session.row.uri, "title": title})

    def _improve(self, session: Session) -> None:
        agent = self._agents.get(session.state["summary"]["provider"])
        if agent is None or type(agent).suggest_title is Agent.suggest_title:
            return
        first = session.state["turns"][0]["userMessage"]["text"]
        if session.state["summary"]["title"] in (NEW_TITLE, title_from(first)):
            task = asyncio.create_task(self._suggested(agent, session), name=f"title of {session.row.uri}")
            self.tasks.add(task)
            task.add_done_callback(self.tasks.discard)

    async def _suggested(self, agent: Agent, session: Session) -> None:
        uri, before = session.row.uri, session.state["summary"]["title"]
        try:
            async with asyncio.timeout(SECONDS):
                title = await agent.suggest_title([said.message for said in session.messages])
            # By its name again: it may have left memory meanwhile, or be gone.
            session = await self._sessions.get(uri)
        except SessionNotFound:
            return
        except Exception as error:
            # A session without a better title is none the worse.
            log.warning("agent %s found no title: %s: %s", agent.name, type(error).__name__, error)
            return
        if session.state["summary"]["title"] == before:
            self._give(session, title_from(title or ""))

    async def close(self) -> None:
        """Look for no more titles."""
        for task in self.tasks:
            task.cancel()
        if self.tasks:
            await asyncio.wait(self.tasks)
