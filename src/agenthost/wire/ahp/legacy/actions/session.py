"""Actions on a session as a whole."""

from typing import Literal, NotRequired, TypedDict

from agenthost.wire.ahp.legacy.common import URI, ErrorInfo, Meta
from agenthost.wire.ahp.legacy.customization import CustomizationRef, SessionCustomization
from agenthost.wire.ahp.legacy.enums import CustomizationStatus
from agenthost.wire.ahp.legacy.root import ModelSelection
from agenthost.wire.ahp.legacy.session import SessionActiveClient
from agenthost.wire.ahp.legacy.tool import FileEdit, ToolDefinition
from agenthost.wire.json import JsonObject


class SessionReadyAction(TypedDict):
    """The session can be used."""

    type: Literal["session/ready"]
    session: URI


class SessionCreationFailedAction(TypedDict):
    """The session could not be created."""

    type: Literal["session/creationFailed"]
    session: URI
    error: ErrorInfo


class SessionTitleChangedAction(TypedDict):
    """The session has a new title."""

    type: Literal["session/titleChanged"]
    session: URI
    title: str


class SessionModelChangedAction(TypedDict):
    """The session has a new model."""

    type: Literal["session/modelChanged"]
    session: URI
    model: ModelSelection


class SessionIsReadChangedAction(TypedDict):
    """The session was read, or is unread again."""

    type: Literal["session/isReadChanged"]
    session: URI
    isRead: bool


class SessionIsArchivedChangedAction(TypedDict):
    """The session was archived or unarchived."""

    type: Literal["session/isArchivedChanged"]
    session: URI
    isArchived: bool


class SessionActivityChangedAction(TypedDict):
    """What the session is doing, in a few words."""

    type: Literal["session/activityChanged"]
    session: URI
    activity: NotRequired[str]


class SessionDiffsChangedAction(TypedDict):
    """The files that the session changed are now these."""

    type: Literal["session/diffsChanged"]
    session: URI
    diffs: list[FileEdit]


class SessionServerToolsChangedAction(TypedDict):
    """The host's tools are now these."""

    type: Literal["session/serverToolsChanged"]
    session: URI
    tools: list[ToolDefinition]


class SessionActiveClientChangedAction(TypedDict):
    """Another client is the active one, or none."""

    type: Literal["session/activeClientChanged"]
    session: URI
    activeClient: SessionActiveClient | None


class SessionActiveClientToolsChangedAction(TypedDict):
    """The active client's tools are now these."""

    type: Literal["session/activeClientToolsChanged"]
    session: URI
    tools: list[ToolDefinition]


class SessionCustomizationsChangedAction(TypedDict):
    """The customizations are now these."""

    type: Literal["session/customizationsChanged"]
    session: URI
    customizations: list[SessionCustomization]


class SessionCustomizationToggledAction(TypedDict):
    """A customization was switched on or off."""

    type: Literal["session/customizationToggled"]
    session: URI
    uri: URI
    enabled: bool


class SessionCustomizationUpdatedAction(TypedDict):
    """A customization changed, or is new."""

    type: Literal["session/customizationUpdated"]
    session: URI
    customization: CustomizationRef
    enabled: NotRequired[bool]
    status: NotRequired[CustomizationStatus]
    statusMessage: NotRequired[str]


class SessionConfigChangedAction(TypedDict):
    """Settings of the session have new values."""

    type: Literal["session/configChanged"]
    session: URI
    config: JsonObject
    replace: NotRequired[bool]  # true = replace all values


class SessionMetaChangedAction(TypedDict):
    """The session's free-form data is now this."""

    type: Literal["session/metaChanged"]
    session: URI
    _meta: NotRequired[Meta]
