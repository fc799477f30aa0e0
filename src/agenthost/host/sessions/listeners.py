"""The listeners that are called with applied actions, and their order."""

from collections.abc import Callable, Collection
from typing import TypeAlias

import msgspec

from agenthost.core.conversation import Conversation, ConversationAction
from agenthost.host.access.identity import Identity
from agenthost.host.state.session import Session
from agenthost.wire.json import JsonObject

__all__ = ["ActionListeners", "AppliedAction", "Listener"]


class AppliedAction(msgspec.Struct, gc=False):
    """An action that was just applied to a session.

    Attributes:
        session: the session; an earlier listener may have changed its state since.
        before: the states before the action.
        action: the action.
        answers: the final answers, if the action completed an input request.
        client: the client that dispatched the action; None for the host's own.
    """

    session: Session
    before: Conversation
    action: ConversationAction
    answers: JsonObject | None = None
    client: Identity | None = None


Listener: TypeAlias = Callable[[AppliedAction], None]


class ActionListeners(dict[str, tuple[Listener, ...]]):
    """The listeners for each type of action, in the order in which they were added."""

    def __init__(self, *listeners: Listener) -> None:
        super().__init__()
        self._added: list[tuple[Listener, Collection[str] | None]] = [(one, None) for one in listeners]
        self._off: set[Listener] = set()

    def add(self, listener: Listener, types: Collection[str] | None = None, *, is_on: bool = True) -> None:
        """Add a listener for these types of actions, or for all, after those that were added before.

        A listener that is off keeps its place in the order until `turn_on`.
        """
        self._added.append((listener, types))
        if not is_on:
            self._off.add(listener)
        self.clear()

    def turn_on(self, listener: Listener) -> None:
        """Call a listener from now on."""
        if listener in self._off:
            self._off.discard(listener)
            self.clear()

    def turn_off(self, listener: Listener) -> None:
        """Do not call a listener until it is turned on again."""
        if listener not in self._off:
            self._off.add(listener)
            self.clear()

    def __missing__(self, kind: str) -> tuple[Listener, ...]:
        # Worked out once per type, because it is needed for every action.
        on = [(one, types) for one, types in self._added if one not in self._off]
        self[kind] = found = tuple(one for one, types in on if types is None or kind in types)
        return found
