"""Refusals: how a rule says no, and what it may know beside the state and the action."""

from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Any, TypeAlias


class Refused(Exception):
    """The action may not be applied. Its text is the reason, as the client is told it."""


@dataclass(frozen=True, slots=True)
class Context:
    """What is true at this moment and stands in no state.

    Attributes:
        models: the ids of the models that the session may use; `None` if any will do.
        has_exited: the terminal's process has ended. Its state tells so only if the exit code is known.
    """

    models: Collection[str] | None = None
    has_exited: bool = False


@dataclass(frozen=True, slots=True)
class Dispatch:
    """Who dispatched an action, and when: what was true then."""

    client_id: str
    context: Context


Rule: TypeAlias = Callable[[Any, Any, Dispatch], None]
"""Decides one type of action, given state, action and dispatch; raises `Refused`, or lets it pass."""


def let_pass(_state: Any, _action: Any, _by: Dispatch) -> None:
    """Refuse nothing: for actions that can only be malformed."""
