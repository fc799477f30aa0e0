"""Turn views: how much of a chat's turns one client has, and how it gets more of them (C9).

A client has the newest turns, from some turn on. Nothing but `chat/turnsLoaded` puts older ones before them,
and nothing but a truncation takes any away. So a number says which turns it lacks.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple, cast

from agenthost.core import actions
from agenthost.core.reducers.records import find_place
from agenthost.errors import InvalidValue
from agenthost.wire.ahp.actions.turn import ChatTurnsLoadedAction
from agenthost.wire.ahp.chat import ChatState
from agenthost.wire.ahp.turn import Turn
from agenthost.wire.error_messages import quote

__all__ = ["REFERRING", "TurnView"]

REFERRING = frozenset({"chat/truncated", "chat/turnResume"})
"""The actions that refer to a turn that has ended: a reducer needs it to apply them."""

PAGE = 20
"""How many turns are loaded at once for a client that wanted none at first."""


class TurnView(NamedTuple):
    """What one client has of a chat's turns.

    Attributes:
        size: how many it wanted at first.
        hidden: how many of the oldest turns it does not have.
        first: the id of the oldest turn that it was sent; `None` if it was sent none.
    """

    size: int
    hidden: int
    first: str | None

    @classmethod
    def of(cls, turns: Sequence[Turn], size: int, first: str | None = None) -> "TurnView":
        """Return the view with the last `size` turns, or with all from a certain one on if these are more."""
        start = max(0, len(turns) - size)
        place = None if first is None else find_place(turns, first)
        return cls.starting_at(turns, start if place is None else min(start, place), size)

    @classmethod
    def starting_at(cls, turns: Sequence[Turn], start: int, size: int) -> "TurnView":
        """Return the view with the turns from this place on."""
        return cls(size, start, turns[start]["id"] if start < len(turns) else None)

    @property
    def cursor(self) -> str | None:
        """What a client sends to get older turns; `None` if there are none."""
        return _cursor(self.hidden)

    def restrict(self, chat: ChatState) -> ChatState:
        """Return the state of the chat as the client sees it."""
        if not self.hidden:
            return chat
        return cast(
            "ChatState", {**chat, "turns": chat["turns"][self.hidden :], "turnsNextCursor": self.cursor}
        )

    def load_page(
        self, turns: Sequence[Turn], cursor: str | None
    ) -> tuple["TurnView", ChatTurnsLoadedAction | None]:
        """Return the view with one more page of turns, and the action that brings them; `None` without any.

        Raises:
            InvalidValue: the cursor is not the one that the client has now.
        """
        if cursor is not None and cursor != self.cursor:
            raise InvalidValue("$.cursor", "the `turnsNextCursor` of the chat", quote(cursor))
        return self._load(turns, max(0, self.hidden - (self.size or PAGE))) if self.hidden else (self, None)

    def load_for(self, turns: Sequence[Turn], action: Any) -> tuple["TurnView", ChatTurnsLoadedAction | None]:
        """Return the view that an action of `REFERRING` needs, and what has to be loaded before that action.

        `turns` are those before the action. All up to the named turn are loaded, so that none is left out.
        A client whose turns a truncation would all take away gets as many as it wanted at first.
        """
        turn_id = action.get("turnId")
        if turn_id is None:  # all turns are removed
            return self._replace(hidden=0, first=None), None
        place = find_place(turns, turn_id)
        if place is None or place >= self.hidden:
            return self, None
        # C9: the turn itself is loaded even for a client that wanted none.
        return self._load(turns, max(0, place + 1 - max(1, self.size)))

    def _load(self, turns: Sequence[Turn], start: int) -> tuple["TurnView", ChatTurnsLoadedAction]:
        action = actions.turns_loaded(list(turns[start : self.hidden]), _cursor(start))
        return self.starting_at(turns, start, self.size), action


def _cursor(hidden: int) -> str | None:
    return f"turns-before-{hidden}" if hidden else None
