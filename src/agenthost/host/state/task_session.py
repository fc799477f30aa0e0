"""A session that was made for a call of another one, in memory: a task of a subagent.

It is a session with an agent, tools and private data of its own, and older clients see it as such. Its
default chat is also a chat of the session that the task comes from (C7), so what follows from it is applied
there too, in the same commit.
"""

from typing import Any

from agenthost.core import actions
from agenthost.core.changesets import offered_changesets
from agenthost.core.derived import QUIET, derived_actions
from agenthost.host.state.session import Session
from agenthost.wire.ahp.actions.session import SessionChatUpdatedAction

__all__ = ["TaskSession"]


class TaskSession(Session):
    """A session whose default chat is also a chat of another session."""

    is_task = True

    def __init__(self, above: Session, *values: Any, **parts: Any) -> None:
        """Make it below the session or chat whose call gave the task; the rest is as for a session."""
        super().__init__(*values, **parts)
        self.above = above

    def _apply_to_chat(self, kind: str, action: Any, origin: Any, sent: Any) -> None:
        before = self._chat
        super()._apply_to_chat(kind, action, origin, sent)
        if kind in QUIET or before.base is self._chat.base:
            return
        top = self.top
        for follows in derived_actions(top.state, kind, before.base, self._chat.base):
            top.follow_up(follows)

    def _apply_update(self, updated: SessionChatUpdatedAction) -> None:
        super()._apply_update(updated)
        self.top.follow_up(updated)

    def _offer_changesets(self, kind: str, action: Any) -> None:
        """Offer the changes on the chat too: whoever follows that may not know of this session."""
        has_some = "changesets" in self.state
        super()._offer_changesets(kind, action)
        if not has_some and "changesets" in self.state:
            offer = actions.chat_changesets_changed(offered_changesets(self.uri))
            self._apply_to_chat(offer["type"], offer, None, None)
