"""Metrics of the host, in the text format of Prometheus.

Each part of the host counts in plain numbers. They are read on request, so metrics cost nothing elsewhere.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from prometheus_client import (
    CONTENT_TYPE_LATEST,
    CollectorRegistry,
    GCCollector,
    PlatformCollector,
    ProcessCollector,
    generate_latest,
)
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily, Metric
from prometheus_client.registry import Collector

from agenthost.host.counters import NodeCounters
from agenthost.host.host import Host
from agenthost.host.log.stats import COMMIT_SECONDS, GROUP_SIZES, JournalStats

__all__ = ["CONTENT_TYPE", "Metrics"]

CONTENT_TYPE = CONTENT_TYPE_LATEST


class Metrics(Collector):
    """Reads a host's own counters."""

    def __init__(self, host: Host, requests: Counter[tuple[str, int]]) -> None:
        self._host = host
        self._requests = requests
        self._is_open = False
        self._registry = CollectorRegistry()
        self._registry.register(self)
        for kind in (ProcessCollector, PlatformCollector, GCCollector):
            kind(registry=self._registry)

    def text(self, *, is_open: bool) -> bytes:
        """Return all metrics as text. Those of the host are missing while it is not open."""
        self._is_open = is_open
        return generate_latest(self._registry)

    def collect(self) -> Iterator[Metric]:
        """Read the counters."""
        yield _http(self._requests)
        if self._is_open:
            counters = self._host.counters()
            turns, is_writable = counters.turns, counters.is_writable
            yield _gauge("sessions", "Sessions, in memory or not.", counters.sessions)
            yield _gauge("sessions_in_memory", "Sessions in memory.", counters.sessions_in_memory)
            yield _counts("turns", "Turns that ended, by outcome.", "outcome", turns.turns)
            yield _counts("tool_calls", "Tool calls that ended, by outcome.", "outcome", turns.tool_calls)
            yield _counts("errors", "What went wrong, by kind.", "kind", turns.errors)
            yield from _journal(counters.journal_stats)
            yield _gauge("journal_backlog", "Writes that wait for the disk.", counters.journal_backlog)
            yield _gauge("store_writable", "Whether the store can be written: 1 or 0.", int(is_writable))
            yield from _subscribers(counters.subscriber_backlogs)
            if counters.node is not None:
                yield from _node(counters.node)


def _journal(stats: JournalStats) -> Iterator[Metric]:
    yield _count("deltas", "Pieces of text that streamed.", stats.deltas)
    yield _count("journal_writes", "Single writes that went to the store.", stats.writes)
    yield _count("journal_failures", "Times that a group could not be written.", stats.failures)
    yield _histogram(
        "commit_seconds",
        "How long commits took.",
        COMMIT_SECONDS,
        stats.commit_seconds,
        stats.commit_seconds_total,
    )
    yield _histogram(
        "commit_size",
        "How much was written in one commit.",
        GROUP_SIZES,
        stats.group_sizes,
        stats.group_size_total,
    )


def _subscribers(backlogs: Sequence[int]) -> Iterator[Metric]:
    yield _gauge("subscribers", "Listeners of sessions.", len(backlogs))
    longest = max(backlogs, default=0)
    yield _gauge("subscriber_backlog_max", "Envelopes that wait for the slowest listener.", longest)


def _node(node: NodeCounters) -> Iterator[Metric]:
    family = GaugeMetricFamily("agenthost_node", "This node, by its id: always 1.", labels=["node"])
    family.add_metric([str(node.id)], 1)
    yield family
    yield _gauge("node_lease_seconds", "After how much silence others take over.", node.lease)
    yield _gauge("node_lag", "Commits that were heard of and not shown yet.", node.lag)
    yield _count("takeovers", "Sessions and chats whose turn was taken over.", node.takeovers)
    yield _count("commands_sent", "Commands passed on to other nodes.", node.sent)
    yield _count("commands_received", "Commands of other nodes.", node.received)


def _http(requests: Mapping[tuple[str, int], int]) -> Metric:
    labels = ["route", "status"]
    family = CounterMetricFamily("agenthost_http_requests", "Requests answered.", labels=labels)
    for (route, status), count in requests.items():
        family.add_metric([route, str(status)], count)
    return family


def _gauge(name: str, text: str, value: float) -> Metric:
    return GaugeMetricFamily(f"agenthost_{name}", text, value)


def _count(name: str, text: str, value: float) -> Metric:
    return CounterMetricFamily(f"agenthost_{name}", text, value)


def _counts(name: str, text: str, label: str, values: Mapping[str, int]) -> Metric:
    family = CounterMetricFamily(f"agenthost_{name}", text, labels=[label])
    for key, value in values.items():
        family.add_metric([key], value)
    return family


def _histogram(name: str, text: str, bounds: Sequence[float], counts: Sequence[int], total: float) -> Metric:
    """Return a histogram as Prometheus wants it: each bucket includes the smaller ones."""
    names = [*map(str, bounds), "+Inf"]
    buckets = [(bound, float(sum(counts[: place + 1]))) for place, bound in enumerate(names)]
    return HistogramMetricFamily(f"agenthost_{name}", text, buckets, total)
