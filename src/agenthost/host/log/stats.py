"""Counters of the journal, for the metrics. Updated once per commit, so they are always on."""

from dataclasses import dataclass, field

__all__ = ["COMMIT_SECONDS", "GROUP_SIZES", "JournalStats"]

COMMIT_SECONDS = (0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.5, 2.0)
GROUP_SIZES = (1, 4, 16, 64, 256, 1_024, 4_096, 16_384, 65_536)
"""Upper bounds of the buckets of the two histograms. One more bucket counts everything above the last."""


@dataclass(slots=True)
class JournalStats:
    """Counters of the journal so far.

    Attributes:
        commits: groups written.
        writes: single writes in those groups.
        deltas: pieces of streamed text.
        failures: failed attempts to write a group.
        largest_group: the size of the largest group; each envelope of a run counts.
        commit_seconds: how many commits took up to each of `COMMIT_SECONDS`.
        commit_seconds_total: the time of all commits together.
        group_sizes: how many groups had up to each of `GROUP_SIZES`.
        group_size_total: the sizes of all groups together.
    """

    commits: int = 0
    writes: int = 0
    deltas: int = 0
    failures: int = 0
    largest_group: int = 0
    commit_seconds: list[int] = field(default_factory=lambda: [0] * (len(COMMIT_SECONDS) + 1))
    commit_seconds_total: float = 0.0
    group_sizes: list[int] = field(default_factory=lambda: [0] * (len(GROUP_SIZES) + 1))
    group_size_total: int = 0
