"""Actions on watches."""

from typing import Literal, TypedDict

from agenthost.wire.ahp.resource import ResourceChanges


class ResourceWatchChangedAction(TypedDict):
    """Files or folders changed."""

    type: Literal["resourceWatch/changed"]
    changes: ResourceChanges
