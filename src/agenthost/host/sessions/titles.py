"""Titles of sessions: first taken from the first message, then suggested by the agent.

Agents are asked in the background after the first turn, so no turn waits for it. A title that was set in
another way is kept. Knows no protocol, and of agents only `suggest_title`.
"""

import asyncio
import logging
from collections.abc import Callable, Mapping

from agenthost.core import actions
from agenthost.core.conversation import ConversationAction
from agenthost.core.queries import TURN_ENDINGS
from agenthost.errors import SessionNotFound
from agenthost.host.authoring.agent import Agent
from agenthost.host.sessions.listeners import AppliedAction
from agenthost.host.sessions.new_session import NEW_TITLE, title_from
from agenthost.host.state.registry import SessionRegistry
from agenthost.host.state.session import Session

__all__ = ["Titles"]

log = logging.getLogger("agenthost.titles")

SECONDS = 60.0
"""How long an agent may take to suggest a title."""


LISTENS_TO = frozenset({"chat/turnStarted", *TURN_ENDINGS})
"""The types of actions that `Titles.on_action` handles, while a session has no title."""


class Titles:
    """The titles of all sessions. `act` applies an action to a session.

    Attributes:
        tasks: the tasks that are asking agents.
    """

    def __init__(
        self,
        agents: Mapping[str, Agent],
        sessions: SessionRegistry,
        act: Callable[[Session, ConversationAction], None],
        switch: Callable[[bool], None],
    ) -> None:
        self._agents = agents
        self._sessions = sessions
        self._act = act
        self._switch = switch
        self._unnamed: set[int] = set()  # the sessions whose first turn has not ended
        self.tasks: set[asyncio.Task[None]] = set()

    def watch(self, session: Session) -> None:
        """Set a title when the session's first turn starts, if it has had no turn yet."""
        if not session.chat["turns"] and session.home is session:  # the title of a further chat is settled
            self._unnamed.add(session.number)
            self._switch(True)  # noqa: FBT003 - its only argument

    def on_truncated(self, applied: AppliedAction) -> None:
        """Watch a session again if all its turns were removed."""
        self.watch(applied.session)

    def on_action(self, applied: AppliedAction) -> None:
        """Set a title when the first turn starts, and ask for a better one when it has ended."""
        session, kind = applied.session, applied.action["type"]
        if session.number not in self._unnamed:
            return
        if kind == "chat/turnStarted":
            self._name(session)
            return
        self._unnamed.discard(session.number)
        if not self._unnamed:
            self._switch(False)  # noqa: FBT003
        if kind == "chat/turnComplete" and len(session.chat["turns"]) == 1:
            self._improve(session)

    def _name(self, session: Session) -> None:
        chat = session.chat
        if not chat["turns"] and session.state["title"] == NEW_TITLE:
            self._set_title(session, title_from(chat["activeTurn"]["message"]["text"]))

    def _set_title(self, session: Session, title: str) -> None:
        if title:
            self._act(session, actions.title_changed(title))

    def _improve(self, session: Session) -> None:
        agent = self._agents.get(session.state["provider"])
        # The default suggests nothing, so no task is needed.
        if agent is None or type(agent).suggest_title is Agent.suggest_title:
            return
        first = session.chat["turns"][0]["message"]["text"]
        # Any other title was chosen by somebody.
        if session.state["title"] in (NEW_TITLE, title_from(first)):
            task = asyncio.create_task(self._suggested(agent, session), name=f"title of {session.row.uri}")
            self.tasks.add(task)
            task.add_done_callback(self.tasks.discard)

    async def _suggested(self, agent: Agent, session: Session) -> None:
        uri, before = session.row.uri, session.state["title"]
        try:
            async with asyncio.timeout(SECONDS):
                title = await agent.suggest_title(session.transcript)
            # Look it up again: it may have left memory or been removed meanwhile.
            session = await self._sessions.get(uri)
        except SessionNotFound:
            return
        except Exception as error:
            # The session keeps the title that it has.
            log.warning("agent %s could not suggest a title: %s: %s", agent.name, type(error).__name__, error)
            return
        # A title that was set meanwhile stays.
        if session.state["title"] == before:
            self._set_title(session, title_from(title or ""))

    async def close(self) -> None:
        """Stop asking agents for titles."""
        for task in self.tasks:
            task.cancel()
        if self.tasks:
            await asyncio.wait(self.tasks)
