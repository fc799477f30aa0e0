"""The line: what is shown gets its number then, and marks the number of what came before them."""

import asyncio
from pathlib import Path
from typing import Any

from agenthost.core.actions import title_changed
from agenthost.host.access.identity import Identity
from agenthost.host.log.line import Line, Mark
from agenthost.host.log.subscriptions import LogItem
from agenthost.wire.ahp.actions.envelope import ActionOrigin
from hosting import new_session, run, started

URI = "demo:/one"


def test_items_are_numbered_in_order_when_they_are_shown() -> None:
    line, shown = Line(10), []

    def show(item: LogItem) -> None:
        shown.append((item.seq, [one.seq for one in items], line.shown_seq))

    items: list[Any] = [LogItem(0, 1, b"", count=count, show=show) for count in (1, 3)]
    first, between, last = Mark(), Mark(), Mark()
    line.show([first, items[0], between, items[1], last], 20, 24)
    assert shown == [(21, [21, 0], 24), (24, [21, 24], 24)]
    assert (first.seq, between.seq, last.seq) == (20, 21, 24)


def test_nothing_has_a_number_before_it_is_durable(tmp_path: Path) -> None:
    async def story() -> None:
        async with started(tmp_path) as host:
            session = await new_session(host, URI)
            before = host.line.shown_seq
            origin: ActionOrigin = {"clientId": "me", "clientSeq": 1}
            assert host.journal.mark().seq == before
            session.act(title_changed("a"))
            refusal = session.refuse(URI, title_changed("b"), origin, "no", Identity("me"))
            mark = host.journal.mark()
            session.act(title_changed("c"))
            assert (refusal.seq, mark.seq, host.line.shown_seq) == (0, None, before)
            await host.journal.wait()
            assert (refusal.seq, mark.seq, host.line.shown_seq) == (before + 2, before + 2, before + 3)

    run(story)


def test_waiting_for_everything_waits_for_a_mark_too(tmp_path: Path) -> None:
    async def story() -> None:
        async with started(tmp_path) as host:
            session = await new_session(host, URI)
            ticket = session.act(title_changed("a"))
            while host.journal.backlog:  # noqa: ASYNC110 - until its group is being written
                await asyncio.sleep(0)
            mark = host.journal.mark()
            assert not host.journal.is_durable(ticket)
            await host.journal.wait()
            assert mark.seq == host.line.shown_seq

    run(story)
