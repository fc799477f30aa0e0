"""Health: whether the process is alive, and whether the host can work. Knows the host, no protocol."""

from enum import Enum
from typing import NamedTuple

from agenthost.host.host import Host

__all__ = ["NOT_OPEN", "Phase", "Trouble", "find_trouble"]


class Phase(Enum):
    """The phase of a server."""

    STARTING = "starting"
    READY = "ready"
    DRAINING = "draining"
    STOPPING = "stopping"

    @property
    def is_open(self) -> bool:
        """Whether the host is open and serves."""
        return self in (Phase.READY, Phase.DRAINING)


class Trouble(NamedTuple):
    """Why the host is not available: a code, and a message without details of this machine."""

    code: str
    message: str


NOT_OPEN = {
    Phase.STARTING: Trouble("starting", "the host is still opening its store; try again soon"),
    Phase.STOPPING: Trouble("stopping", "the host is shutting down"),
}
_DRAINING = Trouble("draining", "this server is about to stop; turns that run may still end")
_RESTORING = Trouble("restoring", "sessions are still being restored; try again soon")
_UNWRITABLE = Trouble(
    "store_unavailable", "the store cannot be written at present; the server's log says why"
)


_BEHIND = Trouble("behind", "this node shows what others wrote much too late; the server's log says why")


def find_trouble(phase: Phase, host: Host) -> Trouble | None:
    """Return why the host is not available now, if it is not."""
    if phase in NOT_OPEN:
        return NOT_OPEN[phase]
    if phase is Phase.DRAINING:
        return _DRAINING
    if not host.is_restored:
        return _RESTORING
    if host.is_behind:
        return _BEHIND
    # Not the message of the error itself: it contains paths.
    return _UNWRITABLE if host.trouble is not None else None
