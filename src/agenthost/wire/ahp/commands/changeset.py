"""Commands on changesets."""

from typing import NotRequired, TypedDict

from agenthost.wire.ahp.changeset import ChangesetOperationFollowUp, ChangesetOperationTarget
from agenthost.wire.ahp.commands.params import BaseParams
from agenthost.wire.ahp.common import StringOrMarkdown


class InvokeChangesetOperationParams(BaseParams):
    """`invokeChangesetOperation`: which one, and what for. The channel is the changeset."""

    operationId: str
    target: NotRequired[ChangesetOperationTarget]  # absent: the whole changeset


class InvokeChangesetOperationResult(TypedDict):
    """`invokeChangesetOperation`: what to show."""

    message: NotRequired[StringOrMarkdown]
    followUp: NotRequired[ChangesetOperationFollowUp]
