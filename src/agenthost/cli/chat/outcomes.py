"""How a conversation can end."""

from dataclasses import dataclass
from typing import TypeAlias

from agenthost.client.ahp import Session

__all__ = ["Leave", "Outcome", "Switch"]


@dataclass(frozen=True, slots=True)
class Leave:
    """The chat ends with this exit code."""

    code: int = 0


@dataclass(frozen=True, slots=True)
class Switch:
    """The chat continues in another session."""

    session: Session
    is_new: bool = False


Outcome: TypeAlias = Leave | Switch
