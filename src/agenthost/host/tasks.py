"""Tasks: how many agents give to each other, bounded for each turn that no task began, with all below it.

How many there were in all is kept with the session of that turn, so a restart forgets none. How many run at
once is known by who waits for them. Knows sessions; having tasks done is the business of `delegating`.
"""

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager

from agenthost.errors import SessionNotFound, ToolError
from agenthost.host.limits import Limits
from agenthost.host.session import Session
from agenthost.host.sessions import Sessions
from agenthost.host.setup import private_of

__all__ = ["TASK", "Tasks", "Top", "depth_of"]

TASK = "task"
"""The id of the turn in which a child does what it was made for."""

Top = tuple[Session, str]
"""The session and the turn that a task comes from in the end."""


class Tasks:
    """Counts the tasks of a host, and refuses those beyond its limits."""

    def __init__(self, sessions: Sessions, limits: Limits) -> None:
        self._sessions = sessions
        self._limits = limits
        self._at_once: Counter[tuple[int, str]] = Counter()

    async def find_top(self, session: Session, turn_id: str) -> Top:
        """Return the session and the turn that a turn comes from: itself, unless it is a task."""
        while turn_id == TASK and (above := private_of(session).get("parent")) is not None:
            try:
                session = await self._sessions.get(above["session"])
            except SessionNotFound:  # it is being removed, and this one with it
                break
            turn_id = above["turn"]
        return session, turn_id

    @contextmanager
    def counted(self, parent: Session, top: Top, *, is_new: bool) -> Iterator[None]:
        """Count a task while it runs.

        Raises:
            ToolError: it is new, and there are too many; the sentence is for the model.
        """
        session, turn_id = top
        key = session.number, turn_id
        if is_new:
            self._check(parent, top)
            count = {"turn": turn_id, "count": _in_all(top) + 1}
            session.keep({**session.private, "tasks": count})
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
                f"agents may give tasks to each other {limits.task_depth} deep, and this is as deep; "
                "do it without"
            )
        if _in_all(top) >= limits.tasks_per_turn:
            raise ToolError(
                f"one turn, with all its tasks, may give {limits.tasks_per_turn} tasks in all, and has; "
                "do it without"
            )
        if self._at_once[top[0].number, top[1]] >= limits.tasks_at_once:
            raise ToolError(
                f"one turn, with all its tasks, may have {limits.tasks_at_once} tasks at once, and has; "
                "do it without, or try again when one has ended"
            )


def depth_of(session: Session) -> int:
    """Return how many sessions this one is in."""
    return int(private_of(session).get("parent", {}).get("depth", 0))


def _in_all(top: Top) -> int:
    session, turn_id = top
    kept = private_of(session).get("tasks")
    return int(kept["count"]) if kept is not None and kept["turn"] == turn_id else 0
