"""Counters of a host, for its metrics."""

from collections.abc import Sequence
from dataclasses import dataclass

from agenthost.host.log.stats import JournalStats
from agenthost.host.turns.runner import TurnStats

__all__ = ["Counters", "NodeCounters"]


@dataclass(frozen=True, slots=True)
class NodeCounters:
    """What a node counts that shares its store with others.

    Attributes:
        id: its id.
        lease: its lease, in seconds.
        lag: commits of all nodes that it has heard of and not shown yet.
        takeovers: sessions and chats with a turn that it took over.
        sent: commands that it passed on to other nodes.
        received: commands of other nodes.
    """

    id: int
    lease: float
    lag: int
    takeovers: int
    sent: int
    received: int


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
        node: what is counted only if several nodes can share the store.
    """

    sessions: int
    sessions_in_memory: int
    turns: TurnStats
    journal_stats: JournalStats
    journal_backlog: int
    is_writable: bool
    subscriber_backlogs: Sequence[int]
    node: NodeCounters | None = None
