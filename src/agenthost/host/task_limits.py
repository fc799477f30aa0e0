"""Limits of delegated tasks, per top-level turn: a turn that is not itself a task, with all tasks below it.

The total is stored with the session of that turn, so it survives a restart. The number that run at once is
counted by those who wait for them. Knows sessions; `delegation` runs tasks.
"""

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager

from agenthost.errors import SessionNotFound, ToolError
from agenthost.host.limits import Limits
from agenthost.host.state.private import with_values
from agenthost.host.state.registry import SessionRegistry
from agenthost.host.state.session import Session

__all__ = ["TASK", "TaskLimits", "Top", "depth_of"]

TASK = "task"
"""The id of the turn in which a child does its task."""

Top = tuple[Session, str]
"""The session and the id of the top-level turn that a task belongs to."""


class TaskLimits:
    """Counts the tasks of a host, and refuses those beyond its limits."""

    def __init__(self, sessions: SessionRegistry, limits: Limits) -> None:
        self._sessions = sessions
        self._limits = limits
        self._at_once: Counter[tuple[int, str]] = Counter()

    async def find_top(self, session: Session, turn_id: str) -> Top:
        """Return the top-level turn that a turn belongs to: itself, unless it is a task."""
        while turn_id == TASK and (above := session.private.get("parent")) is not None:
            try:
                session = await self._sessions.get(above["session"])
            except SessionNotFound:  # the parent is being removed, and this one with it
                break
            turn_id = above["turn"]
        return session, turn_id

    @contextmanager
    def counted(self, parent: Session, top: Top, *, is_new: bool) -> Iterator[None]:
        """Count a task while it runs.

        Raises:
            ToolError: it is new, and there are too many; the message is for the model.
        """
        session, turn_id = top
        key = session.number, turn_id
        if is_new:
            self._check(parent, top)
            count = {"turn": turn_id, "count": _total(top) + 1}
            session.keep(with_values(session.private, tasks=count) or session.private)
        self._at_once[key] += 1
        try:
            yield
        finally:
            self._at_once[key] -= 1
            if not self._at_once[key]:
                del self._at_once[key]

    def _check(self, parent: Session, top: Top) -> None:
        limits = self._limits
        if depth_of(parent) >= limits.task_depth:
            raise ToolError(
                f"tasks can be nested {limits.task_depth} deep, and this one would be deeper; "
                "do the work without it"
            )
        if _total(top) >= limits.tasks_per_turn:
            raise ToolError(
                f"a turn can give {limits.tasks_per_turn} tasks, including tasks of its tasks, "
                "and all are used; do the work without more"
            )
        if self._at_once[top[0].number, top[1]] >= limits.tasks_at_once:
            raise ToolError(
                f"a turn can have {limits.tasks_at_once} tasks at once, including tasks of its tasks, "
                "and as many are running; do the work without more, or try again when one has ended"
            )


def depth_of(session: Session) -> int:
    """Return how deeply this session is nested; 0 if it is not a task."""
    return int(session.private.get("parent", {}).get("depth", 0))


def _total(top: Top) -> int:
    session, turn_id = top
    kept = session.private.get("tasks")
    return int(kept["count"]) if kept is not None and kept["turn"] == turn_id else 0
