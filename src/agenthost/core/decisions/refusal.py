"""Refusals: how a rule refuses, and what it may know besides the state and the action."""

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, TypeAlias

import msgspec

from agenthost.core.decisions.grants import ALL_RIGHTS, Grant, Rights
from agenthost.errors import ActionRefused, HostError, InvalidValue, TooLarge
from agenthost.wire.ahp.message import Message
from agenthost.wire.ahp.root import ModelSelection
from agenthost.wire.error_messages import quote
from agenthost.wire.json import JsonObject, encode_json

ORIGIN_BYTES = len(b',"origin":{"kind":"user"}')
"""The part of every message that says who wrote it; the size limit does not count it."""


class Refused(Exception):
    """The action may not be applied. The text is the reason, as the client gets it.

    Attributes:
        error: the same as an error, for clients that get no envelope.
    """

    def __init__(self, reason: str | HostError) -> None:
        super().__init__(str(reason))
        self.error: HostError = reason if isinstance(reason, HostError) else ActionRefused(reason)


class Context(msgspec.Struct, frozen=True, gc=False):
    """Facts that a decision needs and no state has, as of now.

    Attributes:
        models: the ids of the models that the session may use, and of the one that stands for an agent
            without a choice of models; `None` if any is allowed.
        has_exited: the terminal's process has exited, though its state may not say so yet.
        message_bytes: the maximum size of a user's message; `None` if there is no limit.
        had_turn: returns whether the chat had a turn with this id, without a search through all turns.
        waiting: the actions that are held until the turn ends or the session is ready.
        taken: the messages that are no longer pending, by `message_name`.
        lacks: the reason why this client may not start a turn, such as a missing token.
        tool_names: the names of all tools of the session's agent, exposed or hidden, on or off.
        rights: what this client may do.
        call_grant: returns the grant that approving a tool call needs; `None` if approving needs none.
        option_grants: the grants that some options need to be changed.
        takes_client_tools: the session's agent takes tools of clients.
        is_translated: the client speaks an older protocol, and its action was made for it.
    """

    models: Collection[str] | None = None
    has_exited: bool = False
    message_bytes: int | None = None
    had_turn: Callable[[str], bool] | None = None
    waiting: Sequence[Any] = ()
    taken: Collection[str] = ()
    lacks: HostError | None = None
    tool_names: Collection[str] = ()
    rights: Rights = ALL_RIGHTS
    call_grant: Callable[[JsonObject], Grant | None] | None = None
    option_grants: Mapping[str, Grant] = {}
    takes_client_tools: bool = True
    is_translated: bool = False


class Dispatch(msgspec.Struct, frozen=True, gc=False):
    """Who dispatched an action, and what was true at that moment."""

    client_id: str
    context: Context


Rule: TypeAlias = Callable[[Any, Any, Dispatch], None]
"""Decides one type of action from state, action and dispatch: raises `Refused`, or returns."""


def check_origin(message: Message, at: str) -> None:
    """Refuse a message that a client sends in the name of anybody but the user. `at` is its path."""
    kind = message["origin"]["kind"]
    # D3: only the host says what agents and the system wrote.
    if kind != "user":
        raise InvalidValue(f"{at}.origin.kind", "'user'", quote(kind))


def check_model(model: ModelSelection | None, by: Dispatch) -> None:
    """Refuse a model that is not on offer."""
    models = by.context.models
    if model is not None and models is not None and model["id"] not in models:
        raise Refused(f"there is no model {quote(model['id'])}")


def check_size(message: Message, by: Dispatch) -> None:
    """Refuse a user's message that is larger than the host allows."""
    limit = by.context.message_bytes
    if limit is not None and len(encode_json(message)) - ORIGIN_BYTES > limit:
        raise Refused(TooLarge("the message", limit))


def check_tokens(by: Dispatch) -> None:
    """Refuse to start a turn for a client that lacks something, such as a token that the agent needs."""
    if by.context.lacks is not None:
        raise Refused(by.context.lacks)


def message_name(kind: str, message_id: str) -> str:
    """Return the name of a pending message, unique within its chat."""
    return f"{kind}/{message_id}"


def let_pass(_state: Any, _action: Any, _by: Dispatch) -> None:
    """Refuse nothing: for actions of which only the shape can be wrong."""
