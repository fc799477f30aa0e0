"""The root: told, shown once durable, brought back, and brought up to date, on a real SQLite file."""

import asyncio
import json
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from agenthost.core.reducers import Live, reduce_root
from agenthost.errors import StorageError, UriReserved
from agenthost.host.access.identity import Identity
from agenthost.host.log.text_runs import unpack
from agenthost.host.state import engine as engine_module
from agenthost.host.state import root as root_module
from agenthost.host.state.engine import Engine
from agenthost.host.state.feed import Resumed, View
from agenthost.host.storage import ROOT, Opening
from agenthost.host.storage.sqlite import SqliteStorage
from agenthost.wire.ahp import ROOT_URI
from hosting import new_session, run, started

ORIGIN: Any = {"clientId": "me", "clientSeq": 1}


def agent(name: str) -> Any:
    return {"provider": name, "displayName": name, "description": "", "models": []}


def terminal(name: str) -> Any:
    return {"resource": f"t:/{name}", "title": name, "claim": {"kind": "client", "clientId": "me"}}


def settings(values: dict[str, Any], **types: str) -> Any:
    """Build settings of these types; those whose names begin with `fixed` are for reading only."""
    fixed = {name: {"readOnly": True} for name in types if name.startswith("fixed")}
    properties = {name: {"type": kind, "title": name, **fixed.get(name, {})} for name, kind in types.items()}
    return {"schema": {"type": "object", "properties": properties}, "values": values}


def choose(**values: Any) -> Any:
    return {"type": "root/configChanged", "config": values}


@asynccontextmanager
async def opened(
    folder: Path, *, agents: Sequence[Any] | None = None, config: Any = None
) -> AsyncIterator[Engine]:
    async with Engine(SqliteStorage(folder), agents=agents, config=config) as host:
        yield host


def caught_up(view: View, back: Resumed) -> Any:
    """Return the root's state as a client has it after it came back."""
    if back.replay is None:
        return back.views[0].state
    live: Live[Any] = Live(view.state)
    for entry in back.replay:
        live = reduce_root(live, json.loads(entry.envelope)["action"])
    return live.state


def test_a_new_root_has_all_its_lists(tmp_path: Path) -> None:
    async def story() -> None:
        async with opened(tmp_path) as host:
            assert host.root.state == {"agents": [], "activeSessions": 0, "terminals": []}
            assert host.line.shown_seq == host.opening.last_seq

    run(story)


def test_only_what_is_news_happens_also_when_a_list_was_changed_in_place(tmp_path: Path) -> None:
    async def story() -> None:
        async with opened(tmp_path) as host:
            agents = [agent("a")]
            for _ in range(3):
                host.root.set_agents(agents)
                host.root.set_terminals([terminal("sh")])
            first = host.opening.last_seq
            await host.journal.wait()
            assert host.line.shown_seq == first + 2
            agents[0]["description"] = "new"
            agents.append(agent("b"))
            host.root.set_agents(agents)
            await host.journal.wait()
            assert host.line.shown_seq == first + 3
            assert host.root.state["agents"] == agents

    run(story)


def test_nothing_of_the_root_is_shown_before_it_is_durable(tmp_path: Path) -> None:
    async def story() -> None:
        async with opened(tmp_path) as host:
            ticket = host.root.act({"type": "root/agentsChanged", "agents": [agent("a")]})
            assert host.root.state["agents"] == [agent("a")]
            assert (host.root.shown.state["agents"], host.root.shown_seq) == ([], 0)
            await host.journal.wait(ticket)
            seq = host.opening.last_seq + 1
            assert (host.root.shown.state["agents"], host.root.shown_seq) == ([agent("a")], seq)
            assert [entry.seq for entry in host.storage.replay(0, [ROOT], "me")] == [seq]

    run(story)


def test_a_session_is_counted_in_the_transaction_that_makes_or_removes_it(tmp_path: Path) -> None:
    async def story() -> None:
        async with opened(tmp_path) as host:
            before = host.journal.stats.commits
            await new_session(host, "demo:/one")
            assert host.root.shown.state["activeSessions"] == 1
            await host.removals.remove("demo:/one")
            assert host.root.shown.state["activeSessions"] == 0
            assert host.journal.stats.commits == before + 2

    run(story)


def test_many_sessions_made_in_one_moment_are_counted_together(tmp_path: Path) -> None:
    async def story() -> None:
        async with opened(tmp_path) as host:
            before = host.journal.stats.commits
            await asyncio.gather(*(new_session(host, f"demo:/{n}") for n in range(60)))
            counts = [json.loads(found.envelope) for found in unpack(host.storage.replay(0, [ROOT], "me"))]
            assert counts[-1]["action"]["activeSessions"] == host.session_counts.total == 60
            assert len(counts) == host.journal.stats.commits - before
            host.root.set_active_sessions(7)
            host.root.set_active_sessions(8)
            host.root.set_active_sessions(60)
            await host.journal.wait()
            assert host.line.shown_seq == host.opening.last_seq + len(counts)  # in the end it was no news

    run(story)


def test_no_session_takes_the_roots_place(tmp_path: Path) -> None:
    async def story() -> None:
        async with opened(tmp_path) as host:
            with pytest.raises(UriReserved):
                await new_session(host, ROOT_URI)

    run(story)


def test_the_root_is_there_after_a_restart_and_says_nothing_when_nothing_changed(tmp_path: Path) -> None:
    async def story() -> None:
        async with opened(tmp_path, agents=[agent("a")], config=settings({"x": 1}, x="number")) as host:
            await new_session(host, "demo:/one")
            host.root.act(choose(x=2), ORIGIN)
            before = host.root.state
        for _ in range(2):
            async with opened(tmp_path, agents=[agent("a")], config=settings({"x": 1}, x="number")) as host:
                assert host.root.state == host.root.shown.state == before
                assert host.line.shown_seq == host.opening.last_seq
        async with opened(tmp_path, config=settings({"x": 1}, x="number")) as host:
            assert host.root.state == before  # agents that are not known yet are those of the last time

    run(story)


def test_one_that_was_away_over_a_restart_converges(tmp_path: Path) -> None:
    async def story() -> None:
        async with opened(tmp_path, agents=[agent("old")]) as host:
            view = await host.feed(Identity("me")).subscribe(ROOT_URI)
            host.root.set_terminals([terminal("sh")])
            await new_session(host, "demo:/one")
        async with opened(tmp_path, agents=[agent("new")]) as host:
            back = await host.feed(Identity("me")).resume(view.seq, [ROOT_URI])
            assert back.replay is not None
            assert (
                caught_up(view, back)
                == host.root.shown.state
                == {
                    "agents": [agent("new")],
                    "activeSessions": 1,
                    "terminals": [],
                }
            )

    run(story)


def test_a_count_that_is_not_the_stores_is_put_right(tmp_path: Path) -> None:
    async def story() -> None:
        async with opened(tmp_path) as host:
            await new_session(host, "demo:/one")
            host.root.set_active_sessions(5)
        async with opened(tmp_path) as host:
            assert host.root.shown.state["activeSessions"] == 1

    run(story)


OLD = settings({"fixed": "v1", "kept": 1, "other": 1}, fixed="string", kept="number", other="number")
NEW_VALUES = settings({"fixed": "v2", "kept": 1, "other": 1}, fixed="string", kept="number", other="number")
NEW_SCHEMA = settings({"fixed": "v2", "kept": 1, "other": "a"}, fixed="string", kept="number", other="string")


@pytest.mark.parametrize(
    ("first", "second", "values"),
    [
        (OLD, NEW_VALUES, {"fixed": "v2", "kept": 7, "other": 7}),
        (OLD, NEW_SCHEMA, {"fixed": "v2", "kept": 7, "other": "a"}),
        (None, OLD, {"fixed": "v1", "kept": 1, "other": 1}),
        (OLD, None, None),
        (None, None, None),
    ],
    ids=["values", "schema", "added", "removed", "never"],
)
@pytest.mark.parametrize("has_seen_all", [False, True])
def test_settings_that_are_others_after_a_restart_reach_whoever_was_away(
    tmp_path: Path, first: Any, second: Any, values: Any, has_seen_all: bool
) -> None:
    async def story() -> None:
        async with opened(tmp_path, config=first) as host:
            view = await host.feed(Identity("me")).subscribe(ROOT_URI)
            if first is not None:
                await host.journal.wait(host.root.act(choose(kept=7, other=7), ORIGIN))
            if has_seen_all:
                view = await host.feed(Identity("me")).subscribe(ROOT_URI)
        async with opened(tmp_path, config=second) as host:
            back = await host.feed(Identity("me")).resume(view.seq, [ROOT_URI])
            expected = None if second is None else {"schema": second["schema"], "values": values}
            assert host.root.state.get("config") == expected
            assert caught_up(view, back) == host.root.shown.state
            view = await host.feed(Identity("me")).subscribe(ROOT_URI)
        async with opened(tmp_path, config=second) as host:
            back = await host.feed(Identity("me")).resume(view.seq, [ROOT_URI])
            assert back.replay == []  # from there on it is as ever
            assert host.root.state == view.state

    run(story)


def test_a_refusal_changes_nothing_and_is_replayed_to_its_client_alone(tmp_path: Path) -> None:
    async def story() -> None:
        config = settings({"x": 1}, x="number")
        async with opened(tmp_path, config=config) as host:
            listener = host.feed(Identity("you"))
            seen = (await listener.subscribe(ROOT_URI)).seq
            refused = host.root.refuse(ROOT_URI, choose(x="no"), ORIGIN, "x is a number", Identity("me"))
            await host.journal.wait()
            assert (refused.only_for, refused.reason) == ("me", "x is a number")
            assert json.loads(refused.envelopes()[0])["rejectionReason"] == "x is a number"
            assert listener.subscriber.backlog == 0
            assert host.root.state["config"]["values"] == {"x": 1}
        async with opened(tmp_path, config=config) as host:
            mine = await host.feed(Identity("me")).resume(seen, [ROOT_URI])
            yours = await host.feed(Identity("you")).resume(seen, [ROOT_URI])
            assert mine.replay is not None
            assert [entry.envelope for entry in mine.replay] == refused.envelopes()
            assert yours.replay == []
            assert host.root.state["config"]["values"] == {"x": 1}

    run(story)


@pytest.mark.parametrize("is_refused", [False, True])
def test_the_roots_log_is_trimmed_once_a_snapshot_holds_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, is_refused: bool
) -> None:
    monkeypatch.setattr(root_module, "SNAPSHOT_ENTRIES", 5)

    async def story() -> None:
        config = settings({"x": 0}, x="number")
        async with opened(tmp_path, config=config) as host:
            for place in range(1, 20):
                if is_refused:
                    host.root.refuse(ROOT_URI, choose(x=place), ORIGIN, "no", Identity("me"))
                else:
                    host.root.act(choose(x=place))
            await host.journal.wait()
            assert host.storage.trim(5, 1_000) > 0
            assert (await host.feed(Identity("me")).resume(0, [ROOT_URI])).replay is None
            recent = await host.feed(Identity("me")).resume(host.line.shown_seq - 3, [ROOT_URI])
            assert recent.replay is not None
            assert len(recent.replay) == 3
        async with opened(tmp_path, config=config) as host:
            assert host.root.state["config"]["values"] == {"x": 0 if is_refused else 19}

    run(story)


class WrittenNoMore(SqliteStorage):
    """A store that can be opened, and from then on only be read."""

    def open(self) -> Opening:
        opening = super().open()
        assert self._writer
        self._writer.execute("PRAGMA query_only = ON")
        return opening


def test_an_engine_whose_first_words_cannot_be_written_says_why_and_lets_go(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(engine_module, "OPEN_SECONDS", 0.1)

    async def story() -> None:
        with pytest.raises(StorageError, match="cannot be written; check who may write there"):
            async with Engine(WrittenNoMore(tmp_path)):
                pass
        async with started(tmp_path) as host:
            await new_session(host, "demo:/one")

    run(story)
