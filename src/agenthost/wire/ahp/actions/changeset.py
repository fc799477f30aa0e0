"""Actions on changesets."""

from typing import Literal, NotRequired, TypedDict

from agenthost.wire.ahp.changeset import ChangesetFile, ChangesetOperation
from agenthost.wire.ahp.common import ErrorInfo
from agenthost.wire.ahp.enums import ChangesetOperationStatus, ChangesetStatus


class ChangesetStatusChangedAction(TypedDict):
    """How far the computation is."""

    type: Literal["changeset/statusChanged"]
    status: ChangesetStatus
    error: NotRequired[ErrorInfo]


class ChangesetFileSetAction(TypedDict):
    """A file is in the changeset, or has changed."""

    type: Literal["changeset/fileSet"]
    file: ChangesetFile


class ChangesetFileRemovedAction(TypedDict):
    """A file is no longer in the changeset."""

    type: Literal["changeset/fileRemoved"]
    fileId: str


class ChangesetFilesReviewChangedAction(TypedDict):
    """Files were reviewed, or are to be reviewed again."""

    type: Literal["changeset/filesReviewChanged"]
    files: list[str]  # their ids
    reviewed: bool


class ChangesetContentChangedAction(TypedDict):
    """The files are now these."""

    type: Literal["changeset/contentChanged"]
    files: list[ChangesetFile]
    operations: NotRequired[list[ChangesetOperation]]  # absent = as before


class ChangesetOperationsChangedAction(TypedDict):
    """The operations are now these."""

    type: Literal["changeset/operationsChanged"]
    operations: NotRequired[list[ChangesetOperation]]


class ChangesetOperationStatusChangedAction(TypedDict):
    """An operation runs, failed, or can be invoked."""

    type: Literal["changeset/operationStatusChanged"]
    operationId: str
    status: ChangesetOperationStatus
    error: NotRequired[ErrorInfo]


class ChangesetClearedAction(TypedDict):
    """The changeset has no files any more."""

    type: Literal["changeset/cleared"]
