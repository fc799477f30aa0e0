"""The reducer of a resource watch: what it reports are events, so its state never changes (RW1)."""

from agenthost.core.reducers.live import Live
from agenthost.wire.ahp.actions import ResourceWatchAction
from agenthost.wire.ahp.resource import ResourceWatchState


def reduce_resource_watch(
    live: Live[ResourceWatchState], _action: ResourceWatchAction
) -> Live[ResourceWatchState]:
    """RW1: return the state as it was."""
    return live
