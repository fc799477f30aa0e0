"""Approvals of a session and of its subagents' sessions.

A subagent asks in its own session, which no user has open. While the call runs that started it, its questions
are asked here, with its name.
"""

import asyncio
from typing import Any, NoReturn

from agenthost.cli.chat.approvals import ApprovalContext, SessionApprovals
from agenthost.cli.chat.render.authorship import Authorship
from agenthost.cli.chat.render.calls import content_blocks
from agenthost.client.ahp import AhpError, Chat
from agenthost.core.session_meta import subagent_session
from agenthost.wire.ahp.actions.text import TextAction

__all__ = ["ApprovalTree"]


class ApprovalTree:
    """The approvals of one session, and of all sessions below it."""

    def __init__(self, context: ApprovalContext, chat: Chat, authorship: Authorship, agent: str = "") -> None:
        self._context = context
        self._chat = chat
        self._approvals = SessionApprovals(context, chat, authorship, agent)
        self._subagents: dict[str, asyncio.Task[None]] = {}

    async def run(self) -> NoReturn:
        """Ask for approvals as long as the session exists.

        Raises:
            AhpError: it no longer exists.
        """
        watching = asyncio.create_task(self._watch_subagents())
        try:
            await self._approvals.run()
        finally:
            for task in (watching, *self._subagents.values()):
                task.cancel()
            await asyncio.gather(watching, *self._subagents.values(), return_exceptions=True)

    async def _watch_subagents(self) -> None:
        changes = self._chat.changes()
        try:
            self._sync_subagents()
            async for change in changes:
                if not changes.has_more and not isinstance(change.action, TextAction):
                    self._sync_subagents()
        finally:
            changes.close()

    def _sync_subagents(self) -> None:
        """Run the approvals of the subagents whose calls run, and of no others."""
        calls: list[Any] = [call for call in self._chat.calls if call["status"] == "running"]
        found = [block for call in calls for block in content_blocks(call, "subagent")]
        # Its chat is one of this session, and also the default chat of a session of its own.
        blocks = {subagent_session(block): block for block in found}
        for uri in [uri for uri in self._subagents if uri not in blocks]:
            self._subagents.pop(uri).cancel()
        for uri, block in blocks.items():
            if uri not in self._subagents:
                self._subagents[uri] = asyncio.create_task(self._run_subagent(uri, block))

    async def _run_subagent(self, uri: str, block: Any) -> None:
        authorship = Authorship(self._context.client.client_id)
        try:
            session = await self._context.client.session(uri)
        except AhpError:
            return  # not accessible, or already gone
        stop = session.listen(authorship.record)
        try:
            agent = block.get("agentName") or block["title"]
            await ApprovalTree(self._context, session, authorship, agent).run()
        except AhpError:
            return
        finally:
            stop()
            session.close()
