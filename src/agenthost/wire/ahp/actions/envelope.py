"""Envelopes: actions in the order that the host gave them."""

from typing import NotRequired, TypedDict

from agenthost.wire.ahp.actions import StateAction
from agenthost.wire.ahp.common import URI


class ActionOrigin(TypedDict):
    """The client that dispatched an action."""

    clientId: str
    clientSeq: int  # no key: clients use a number more than once


class ActionEnvelope(TypedDict):
    """An action with its channel and its place in the host's order: the params of `action`."""

    channel: URI
    action: StateAction
    serverSeq: int  # ascends over all channels of the host
    origin: NotRequired[ActionOrigin]  # absent = host-originated
    rejectionReason: NotRequired[str]  # present = the host refused the action
