"""Notifications: messages to every client, outside the order of the actions."""

from typing import Annotated, Literal, NotRequired, TypeAlias, TypedDict

from agenthost.wire.ahp.legacy.common import URI
from agenthost.wire.ahp.legacy.enums import AuthRequiredReason
from agenthost.wire.ahp.legacy.root import ModelSelection
from agenthost.wire.ahp.legacy.session import ProjectInfo, SessionSummary
from agenthost.wire.ahp.legacy.tool import FileEdit
from agenthost.wire.annotations import Tag


class SessionSummaryChanges(TypedDict):
    """The fields of a `SessionSummary` that changed; null means that the field is gone."""

    title: NotRequired[str]
    status: NotRequired[int]
    activity: NotRequired[str | None]
    modifiedAt: NotRequired[float]
    project: NotRequired[ProjectInfo | None]
    model: NotRequired[ModelSelection | None]
    workingDirectory: NotRequired[URI | None]
    diffs: NotRequired[list[FileEdit] | None]


class SessionAddedNotification(TypedDict):
    """A session now exists."""

    type: Literal["notify/sessionAdded"]
    summary: SessionSummary


class SessionRemovedNotification(TypedDict):
    """A session is gone."""

    type: Literal["notify/sessionRemoved"]
    session: URI


class SessionSummaryChangedNotification(TypedDict):
    """Something in a session's summary changed."""

    type: Literal["notify/sessionSummaryChanged"]
    session: URI
    changes: SessionSummaryChanges


class AuthRequiredNotification(TypedDict):
    """A token is needed, or needed again."""

    type: Literal["notify/authRequired"]
    resource: str
    reason: NotRequired[AuthRequiredReason]


ProtocolNotification: TypeAlias = Annotated[
    SessionAddedNotification
    | SessionRemovedNotification
    | SessionSummaryChangedNotification
    | AuthRequiredNotification,
    Tag("type"),
]
"""A notification of any kind."""


class NotificationParams(TypedDict):
    """`notification`: its params."""

    notification: ProtocolNotification
