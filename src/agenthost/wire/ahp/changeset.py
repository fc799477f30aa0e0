"""Changesets: which files a session or chat changed, and what can be done with the changes."""

from typing import Annotated, Literal, NotRequired, TypeAlias, TypedDict

from agenthost.wire.ahp.common import URI, ContentRef, ErrorInfo, Meta, StringOrMarkdown, TextRange
from agenthost.wire.ahp.enums import (
    ChangesetOperationScope,
    ChangesetOperationStatus,
    ChangesetSide,
    ChangesetStatus,
)
from agenthost.wire.ahp.tool import FileEdit
from agenthost.wire.annotations import Tag
from agenthost.wire.json import JsonObject


class ChangesSummary(TypedDict):
    """How much was changed: lines and files."""

    additions: NotRequired[int]
    deletions: NotRequired[int]
    files: NotRequired[int]


class ChangesetCapabilities(TypedDict):
    """What a changeset supports."""

    review: NotRequired[JsonObject]  # present: files can be marked as reviewed


class Changeset(TypedDict):
    """A changeset as a session or chat offers it. Its URI, expanded, is a channel."""

    label: str
    uriTemplate: str  # with `{turnId}`, or `{originalTurnId}` and `{modifiedTurnId}`, or neither
    description: NotRequired[str]
    changeKind: str  # open set: session, branch, uncommitted, turn, compare-turns, …
    capabilities: NotRequired[ChangesetCapabilities]


class ChangesetFile(TypedDict):
    """A changed file."""

    id: str
    edit: FileEdit
    reviewed: NotRequired[bool]
    _meta: NotRequired[Meta]


class ChangesetOperation(TypedDict):
    """Something that can be done with the changes, such as undoing them."""

    id: str
    label: str
    description: NotRequired[str]
    scopes: list[ChangesetOperationScope]
    confirmation: NotRequired[StringOrMarkdown]  # to be asked before
    icon: NotRequired[str]
    group: NotRequired[str]
    status: ChangesetOperationStatus
    error: NotRequired[ErrorInfo]  # only with status `error`


class ChangesetState(TypedDict):
    """The full state of a changeset, as its subscribers see it."""

    status: ChangesetStatus
    error: NotRequired[ErrorInfo]  # only with status `error`
    files: list[ChangesetFile]
    operations: NotRequired[list[ChangesetOperation]]


class ChangesetResourceTarget(TypedDict):
    """An operation is for one file."""

    kind: Literal["resource"]
    resource: URI
    side: NotRequired[ChangesetSide]


class ChangesetRangeTarget(TypedDict):
    """An operation is for a range of one file."""

    kind: Literal["range"]
    resource: URI
    side: NotRequired[ChangesetSide]
    range: TextRange


ChangesetOperationTarget: TypeAlias = Annotated[ChangesetResourceTarget | ChangesetRangeTarget, Tag("kind")]
"""What an operation is for, if not for the whole changeset."""


class ChangesetOperationFollowUp(TypedDict):
    """Content to show after an operation."""

    content: ContentRef
    external: NotRequired[bool]  # true: not in the client itself
