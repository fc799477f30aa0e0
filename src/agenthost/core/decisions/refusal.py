"""Refusals: how a rule says no, and what it may know beside the state and the action."""

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, TypeAlias

import msgspec

from agenthost.core.decisions.grants import ALL_RIGHTS, Grant, Rights
from agenthost.wire.json import JsonObject, encode_json


class Refused(Exception):
    """The action may not be applied. Its text is the reason, as the client is told it."""


class Context(msgspec.Struct, frozen=True, gc=False):
    """What is true at this moment and stands in no state.

    Attributes:
        models: the ids of the models that the session may use; `None` if any will do.
        has_exited: the terminal's process has ended. Its state tells so only if the exit code is known.
        message_bytes: how large a user's message may be; `None` if there is no limit.
        had_turn: tells whether the session had a turn of this id, without looking at all of them.
        waiting: the actions that are held back, for the end of the turn or until the session is ready.
        taken: the messages that waited before and do no more, as `message_name` calls them.
        lacks: why whoever dispatched it may not begin a turn, such as for want of a token.
        rights: what whoever dispatched it may do.
        call_grant: tells what approving a tool call needs; without it, nothing.
        option_grants: what setting an option needs, for those that need something.
    """

    models: Collection[str] | None = None
    has_exited: bool = False
    message_bytes: int | None = None
    had_turn: Callable[[str], bool] | None = None
    waiting: Sequence[Any] = ()
    taken: Collection[str] = ()
    lacks: str | None = None
    rights: Rights = ALL_RIGHTS
    call_grant: Callable[[JsonObject], Grant | None] | None = None
    option_grants: Mapping[str, Grant] = {}


class Dispatch(msgspec.Struct, frozen=True, gc=False):
    """Who dispatched an action, and when: what was true then."""

    client_id: str
    context: Context


Rule: TypeAlias = Callable[[Any, Any, Dispatch], None]
"""Decides one type of action, given state, action and dispatch; raises `Refused`, or lets it pass."""


def check_size(message: Any, by: Dispatch) -> None:
    """Refuse a user's message that is larger than the host will hold."""
    limit = by.context.message_bytes
    if limit is not None and len(encode_json(message)) > limit:
        raise Refused(f"the message is larger than {limit} bytes")


def check_tokens(by: Dispatch) -> None:
    """Refuse to begin a turn of an agent that needs a token, for whoever has not brought it."""
    if by.context.lacks is not None:
        raise Refused(by.context.lacks)


def message_name(kind: str, message_id: str) -> str:
    """Return what a message that waits is called among others of its session."""
    return f"{kind}/{message_id}"


def let_pass(_state: Any, _action: Any, _by: Dispatch) -> None:
    """Refuse nothing: for actions that can only be malformed."""
