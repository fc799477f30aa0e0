"""What the journal counts, for the metrics: cheap enough to be kept always, once for each commit."""

from bisect import bisect_left
from dataclasses import dataclass, field

COMMIT_SECONDS = (0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.5, 2.0)
GROUP_SIZES = (1, 4, 16, 64, 256, 1_024, 4_096, 16_384, 65_536)
"""The upper bounds of what the histograms tell apart."""


@dataclass(slots=True)
class Histogram:
    """How often a value was up to each of the bounds; the last count is of those above all."""

    bounds: tuple[float, ...]
    counts: list[int] = field(init=False)
    total: float = 0.0

    def __post_init__(self) -> None:
        self.counts = [0] * (len(self.bounds) + 1)

    def add(self, value: float) -> None:
        """Count a value."""
        self.counts[bisect_left(self.bounds, value)] += 1
        self.total += value


@dataclass(slots=True)
class JournalStats:
    """What the journal did so far, for the metrics.

    Attributes:
        commits: groups that were written, and `writes` the single writes in them.
        deltas: pieces of text that streamed.
        failures: times that a group could not be written.
        commit_seconds: how long the commits took.
        group_sizes: how much there was in each group, every envelope counted.
        largest_group: the largest of them.
    """

    commits: int = 0
    writes: int = 0
    deltas: int = 0
    failures: int = 0
    largest_group: int = 0
    commit_seconds: Histogram = field(default_factory=lambda: Histogram(COMMIT_SECONDS))
    group_sizes: Histogram = field(default_factory=lambda: Histogram(GROUP_SIZES))
