"""Actions of a watch."""

from agenthost.wire.ahp.actions.resource_watch import ResourceWatchChangedAction
from agenthost.wire.ahp.resource import ResourceChanges

__all__ = ["watched_changed"]


def watched_changed(changes: ResourceChanges) -> ResourceWatchChangedAction:
    """Files or folders that are watched have changed."""
    return {"type": "resourceWatch/changed", "changes": changes}
