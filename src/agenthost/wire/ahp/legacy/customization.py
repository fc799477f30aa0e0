"""Customizations: Open Plugins packages that a session may use."""

from typing import NotRequired, TypedDict

from agenthost.wire.ahp.legacy.common import URI, Icon
from agenthost.wire.ahp.legacy.enums import CustomizationStatus


class CustomizationRef(TypedDict):
    """An Open Plugins package, by reference."""

    uri: URI  # identity key
    displayName: str
    description: NotRequired[str]
    icons: NotRequired[list[Icon]]
    nonce: NotRequired[str]  # opaque version token; clients should always send one


class SessionCustomization(TypedDict):
    """A customization as a session has it."""

    customization: CustomizationRef
    enabled: bool
    clientId: NotRequired[str]  # contributor; absent = server-provided
    status: NotRequired[CustomizationStatus]
    statusMessage: NotRequired[str]
