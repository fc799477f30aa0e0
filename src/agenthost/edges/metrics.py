"""Metrics: what the host has counted, in the text form of Prometheus.

The parts of the host count for themselves, in plain numbers; these are read when somebody asks, so that
metrics cost nothing where the work is done.
"""

from collections import Counter
from collections.abc import Iterator, Mapping

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

from agenthost.host.host import Host
from agenthost.host.journalstats import Histogram, JournalStats
from agenthost.host.subscriptions import Hub

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
        """Give all of it as text. A host that is not open has nothing to tell yet."""
        self._is_open = is_open
        return generate_latest(self._registry)

    def collect(self) -> Iterator[Metric]:
        """Read the counters."""
        yield _http(self._requests)
        if self._is_open:
            engine, stats = self._host.engine, self._host.stats
            yield _gauge("sessions", "Sessions, in memory or not.", engine.sessions.count)
            yield _gauge("sessions_in_memory", "Sessions in memory.", engine.sessions.in_memory)
            yield _counts("turns", "Turns that ended, by outcome.", "outcome", stats.turns)
            yield _counts("tool_calls", "Tool calls that ended, by outcome.", "outcome", stats.tool_calls)
            yield _counts("errors", "What went wrong, by kind.", "kind", stats.errors)
            yield from _journal(engine.journal.stats)
            yield _gauge("journal_backlog", "Writes that wait for the disk.", engine.journal.backlog)
            is_well = engine.journal.trouble is None
            yield _gauge("store_writable", "Whether the store can be written: 1 or 0.", int(is_well))
            yield from _subscribers(engine.hub)


def _journal(stats: JournalStats) -> Iterator[Metric]:
    yield _count("deltas", "Pieces of text that streamed.", stats.deltas)
    yield _count("journal_writes", "Single writes that went to the store.", stats.writes)
    yield _count("journal_failures", "Times that a group could not be written.", stats.failures)
    yield _histogram("commit_seconds", "How long commits took.", stats.commit_seconds)
    yield _histogram("commit_size", "How much was written in one commit.", stats.group_sizes)


def _subscribers(hub: Hub) -> Iterator[Metric]:
    queues = [subscriber.backlog for subscriber in hub.subscribers()]
    yield _gauge("subscribers", "Listeners of sessions.", len(queues))
    longest = max(queues, default=0)
    yield _gauge("subscriber_backlog_max", "Envelopes that wait for the slowest listener.", longest)


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


def _histogram(name: str, text: str, values: Histogram) -> Metric:
    """Give it as Prometheus wants it: each bucket counts what is in the smaller ones too."""
    names = [*map(str, values.bounds), "+Inf"]
    buckets = [(name, float(sum(values.counts[: place + 1]))) for place, name in enumerate(names)]
    return HistogramMetricFamily(f"agenthost_{name}", text, buckets, values.total)
