"""Envelopes: actions in the order that the host gave them."""

from typing import NotRequired, TypedDict

from agenthost.wire.ahp.legacy.actions import StateAction


class ActionOrigin(TypedDict):
    """The client that dispatched an action."""

    clientId: str
    clientSeq: int


class ActionEnvelope(TypedDict):
    """An action with its place in the host's order: the params of `action`."""

    action: StateAction
    serverSeq: int  # integer, strictly increasing
    origin: NotRequired[ActionOrigin]  # absent = server-originated
    rejectionReason: NotRequired[str]  # present = the server refused the action
