"""Counters of a host, for its metrics."""

from collections.abc import Sequence
from dataclasses import dataclass

from agenthost.host.log.stats import JournalStats
from agenthost.host.turns.runner import TurnStats

__all__ = ["Counters"]


@dataclass(frozen=True, slots=True)
class Counters:
    """Counts so far, and current sizes.

    Attributes:
        sessions: sessions, in memory or not.
        sessions_in_memory: those in memory.
        turns: how turns and tool calls ended, and errors by their kinds.
        journal_stats: what the journal did.
        journal_backlog: writes that wait for the disk.
        is_writable: whether the store can be written.
        subscriber_backlogs: how much waits for each subscriber.
    """

    sessions: int
    sessions_in_memory: int
    turns: TurnStats
    journal_stats: JournalStats
    journal_backlog: int
    is_writable: bool
    subscriber_backlogs: Sequence[int]
