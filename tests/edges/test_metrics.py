"""Metrics: what the host counted, as Prometheus reads it."""

from pathlib import Path

import pytest
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Mount, Route

from agenthost.host.log.stats import GROUP_SIZES
from hosting import new_session, run
from sites import site


async def well(_request: Request) -> Response:
    return Response(b"")


async def fail(_request: Request) -> Response:
    raise RuntimeError


def test_metrics_contain_what_the_host_counted(tmp_path: Path) -> None:
    async def story() -> None:
        async with site(tmp_path) as here:
            await new_session(here.host.parts.engine, "demo:/1")
            here.host.stats.turns["complete"] += 2
            here.host.stats.tool_calls["failed"] += 3
            here.host.stats.errors["agent"] += 4
            stats = here.host.parts.engine.journal.stats
            found = await here.metrics()
            assert found["agenthost_sessions",] == found["agenthost_sessions_in_memory",] == 1
            assert found["agenthost_turns_total", "complete"] == 2
            assert found["agenthost_tool_calls_total", "failed"] == 3
            assert found["agenthost_errors_total", "agent"] == 4
            assert found["agenthost_deltas_total",] == found["agenthost_journal_failures_total",] == 0
            assert found["agenthost_commit_seconds_count",] == stats.commits > 0
            assert found["agenthost_commit_seconds_sum",] == pytest.approx(stats.commit_seconds_total)
            assert found["agenthost_commit_size_bucket", "+Inf"] == stats.commits
            assert found["agenthost_journal_backlog",] == found["agenthost_subscribers",] == 0
            assert found["agenthost_subscriber_backlog_max",] == 0
            assert found["agenthost_store_writable",] == 1
            assert found["process_resident_memory_bytes",] > 0
            assert any(name == "python_info" for name, *_ in found)

    run(story)


def test_every_metric_of_ours_is_documented(tmp_path: Path) -> None:
    page = (Path(__file__).parents[2] / "docs" / "serving.md").read_text()

    async def story() -> None:
        async with site(tmp_path) as here:
            await here.metrics()
            text = (await here.ask("/metrics")).body.decode()
            ours = [one.split()[2] for one in text.splitlines() if one.startswith("# TYPE agenthost_")]
            assert len(ours) > 10
            assert [name for name in ours if f"`{name}" not in page] == []

    run(story)


def test_the_buckets_of_a_histogram_are_cumulative(tmp_path: Path) -> None:
    async def story() -> None:
        async with site(tmp_path) as here:
            sizes = here.host.parts.engine.journal.stats.group_sizes
            before = list(sizes)
            for bucket, count in ((0, 1), (1, 2), (len(GROUP_SIZES), 1)):
                sizes[bucket] += count
            found = await here.metrics()
            counts = [found["agenthost_commit_size_bucket", f"{bound}"] for bound in GROUP_SIZES]
            assert counts[0] == before[0] + 1
            assert counts[1] == sum(before[:2]) + 3
            assert found["agenthost_commit_size_bucket", "+Inf"] == sum(before) + 4

    run(story)


def test_requests_are_counted_by_their_declared_route(tmp_path: Path) -> None:
    inner = Mount("/inside", routes=[Route("/session/{name}", well)])

    async def story() -> None:
        async with site(tmp_path, inner, Route("/fail", fail)) as here:
            for path in (
                "/inside/session/1",
                "/inside/session/2",
                "/inside/nothing",
                "/x/1",
                "/x/2",
                "/fail",
            ):
                await here.ask(path)
            await here.ask("/healthz", "POST")
            assert here.app.requests == {
                ("/inside/session/{name}", 200): 2,
                ("/inside", 404): 1,
                ("other", 404): 2,
                ("/fail", 500): 1,
                ("/healthz", 405): 1,
            }
            found = await here.metrics()
            assert found["agenthost_http_requests_total", "/inside/session/{name}", "200"] == 2

    run(story)
