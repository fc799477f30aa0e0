"""Subscribing to terminals, leaving and coming back: no gap, no overlap, one number for everything."""

from pathlib import Path
from typing import Any

import pytest

from agenthost.agents.demo import demo
from agenthost.errors import SessionNotFound
from agenthost.host.access.identity import Identity
from agenthost.host.limits import Limits
from agenthost.wire.ahp import ROOT_URI
from agenthost.wire.json import decode_json
from hosting import run
from shelling import URI, Watch, claim_of, until_so
from talking import Talk, talking

COUNTING = "i=0; while read x; do i=$((i+1)); echo line $i; done"


def test_a_late_subscriber_sees_what_earlier_ones_see(tmp_path: Path) -> None:
    async def story() -> None:
        async with talking(tmp_path) as host:
            first = await Watch.start(host, COUNTING)
            await first.type("\r")
            await first.until_text("line 1")
            second = await Watch.join(host, client_id="other")
            await first.type("\r")
            for watch in (first, second):
                await watch.until_text("line 2")
            assert first.state == second.state

    run(story)


def test_a_returning_client_gets_exactly_what_it_missed_in_order(tmp_path: Path) -> None:
    async def story() -> None:
        async with talking(tmp_path, demo) as host:
            talk = await Talk.begin(host)
            watch = await Watch.start(host, COUNTING)
            other = await Watch.join(host, client_id="other")
            await watch.type("\r")
            await watch.until_text("line 1")
            watch.feed.close()
            for number in (2, 3, 4):
                await talk.say(f"word {number}")
                await other.type("\r")
                await other.until_text(f"line {number}")
            resumed = await watch.come_back(talk.uri, ROOT_URI)
            assert resumed.missing == []
            numbers = [entry.seq for entry in resumed.replay]
            assert numbers == sorted(set(numbers))
            assert {entry.resource for entry in resumed.replay} >= {talk.session.number, -1}
            assert [decode_json(entry.envelope)["serverSeq"] for entry in resumed.replay] == numbers
            assert watch.state == host.parts.terminals.get(URI).resource.view()
            await other.type("\r")
            await watch.until_text("line 5")
            await other.until_text("line 5")
            assert watch.state == other.state

    run(story)


def test_when_too_much_was_missed_all_views_are_fresh(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        "agenthost.host.state.terminal.ReplayBuffer.__init__.__kwdefaults__", {"entries": 3, "size": 10**6}
    )

    async def story() -> None:
        async with talking(tmp_path) as host:
            watch = await Watch.start(host, COUNTING)
            await watch.type("\r")
            await watch.until_text("line 1")
            watch.feed.close()
            other = await Watch.join(host, client_id="other")
            for number in (2, 3, 4):
                await other.type("\r")
                await other.until_text(f"line {number}")
            resumed = await watch.come_back(ROOT_URI)
            assert resumed.replay is None
            assert [view.uri for view in resumed.views] == [URI, ROOT_URI]
            assert watch.state == other.state

    run(story)


def test_after_a_restart_terminals_are_missing_and_no_number_is_used_twice(tmp_path: Path) -> None:
    async def story() -> None:
        async with talking(tmp_path) as host:
            watch = await Watch.start(host, COUNTING)
            for number in (1, 2, 3):
                await watch.type("\r")
                await watch.until_text(f"line {number}")
            seen = watch.last_seen
        async with talking(tmp_path) as host:
            assert host.parts.engine.opening.last_seq >= seen
            feed = host.parts.engine.feed(Identity("me"))
            resumed = await feed.resume(seen, [URI, ROOT_URI])
            assert resumed.missing == [URI]
            assert host.parts.engine.root.state["terminals"] == []
            again = await Watch.start(host, COUNTING)
            await again.type("\r")
            await again.until_text("line 1")
            assert min(envelope["serverSeq"] for envelope in again.envelopes) > seen

    run(story)


def test_a_new_terminal_with_the_same_uri_is_not_mistaken_for_the_old_one(tmp_path: Path) -> None:
    async def story() -> None:
        async with talking(tmp_path) as host:
            watch = await Watch.start(host, "echo old; read x")
            await watch.until_text("old")
            watch.feed.close()
            await host.parts.terminals.dispose(URI)
            await host.parts.terminals.create(URI, claim_of("me"), command="echo new; read x")
            assert (await watch.come_back()).replay is None
            await watch.until_text("new")
            assert "old" not in watch.text

    run(story)


def test_output_is_not_written_to_any_file_and_pushes_nothing_out_of_the_log(tmp_path: Path) -> None:
    async def story() -> None:
        async with talking(tmp_path, demo, limits=Limits(log_in_all=20)) as host:
            talk = await Talk.begin(host)
            seen = host.parts.engine.line.shown_seq
            await talk.say("hello")
            watch = await Watch.start(host, "read x; echo to''psecret; " + COUNTING)
            for number in range(30):
                await watch.type("\r")
                await watch.until_text(f"line {number}" if number else "topsecret")
            await host.parts.engine.trim()
            resumed = await host.parts.engine.feed(Identity("me")).resume(seen, [talk.uri])
            assert resumed.replay
        for file in (tmp_path / "data").rglob("*"):
            assert not file.is_file() or b"topsecret" not in file.read_bytes()

    run(story)


def test_unsubscribing_ends_the_envelopes_and_a_missing_terminal_cannot_be_subscribed_to(
    tmp_path: Path,
) -> None:
    async def story() -> None:
        async with talking(tmp_path) as host:
            watch = await Watch.start(host, COUNTING)
            terminal = host.parts.terminals.get(URI)
            await watch.feed.unsubscribe(URI)
            await watch.type("\r")
            await until_so(lambda: "line 1" in str(terminal.resource.view()))
            assert watch.feed.subscriber.backlog == 0
            await watch.feed.unsubscribe("term:/none")
            with pytest.raises(SessionNotFound):
                await watch.feed.subscribe("term:/none")

    run(story)


def test_actions_of_a_session_and_a_terminal_arrive_in_one_order(tmp_path: Path) -> None:
    async def story() -> None:
        async with talking(tmp_path, demo) as host:
            talk = await Talk.begin(host)
            feed = host.parts.engine.feed(Identity("both"))
            await feed.subscribe(talk.uri)
            await host.parts.terminals.create(URI, claim_of("me"), command="seq 2000; exit 0")
            await feed.subscribe(URI)
            await talk.send("one two three four five six seven eight")
            kinds: set[str] = set()
            numbers: list[int] = []
            while not {"terminal/exited", "chat/turnComplete"} <= kinds:
                for item in await feed.subscriber.wait_next():
                    for line in item.envelopes():
                        envelope: Any = decode_json(line)
                        kinds.add(envelope["action"]["type"])
                        numbers.append(envelope["serverSeq"])
            assert numbers == sorted(set(numbers))
            await talk.finish()

    run(story)
