"""What clients may do to a terminal, and what becomes of it."""

from pathlib import Path
from typing import Any

import pytest

from agenthost.host.access.identity import Identity
from agenthost.host.log.subscriptions import LogItem
from agenthost.host.state.feed import Feed
from agenthost.host.terminals.terminal import MAX_INPUT
from agenthost.wire.json import decode_json
from hosting import run
from legacy_view import dispatch
from shelling import URI, Watch, claim_of, session_claim
from talking import talking

SESSION = session_claim("demo:/1")
ME = Identity("me")
CALL = {**SESSION, "turnId": "t1", "toolCallId": "c1"}


def reason(refusal: LogItem | None) -> str:
    assert refusal is not None
    text: str = decode_json(refusal.envelopes()[0])["rejectionReason"]
    assert refusal.reason == text
    return text


async def waiting(feed: Feed) -> list[Any]:
    """Return the types of the actions that wait for a subscriber."""
    items = await feed.subscriber.wait_next()
    return [decode_json(line)["action"]["type"] for item in items for line in item.envelopes()]


def test_a_refusal_goes_only_to_its_sender_also_after_a_reconnect(tmp_path: Path) -> None:
    async def story() -> None:
        async with talking(tmp_path) as host:
            watch = await Watch.start(host, "cat")
            other = await Watch.join(host, client_id="other")
            seen = host.parts.engine.line.shown_seq
            assert "cols must be from 1" in reason(await watch.act("resized", cols=0, rows=5))
            assert "not an action" in reason(await watch.act("data", data="forged"))
            assert "not an action" in reason(await watch.act("exited", exitCode=0))
            assert "data" in reason(await watch.act("input"))
            await host.parts.engine.journal.wait()
            assert watch.feed.subscriber.backlog == other.feed.subscriber.backlog == 0
            for client_id, count in (("me", 4), ("other", 0)):
                resumed = await host.parts.engine.feed(Identity(client_id)).resume(seen, [URI])
                assert resumed.replay is not None
                assert len(resumed.replay) == count

    run(story)


def test_an_invalid_action_is_refused_whatever_else_it_contains(tmp_path: Path) -> None:
    async def story() -> None:
        async with talking(tmp_path) as host:
            watch = await Watch.start(host, "cat")
            strange: list[Any] = [[], {}, 5, "demo:/none", URI]
            for session in strange:
                assert "not an action" in reason(await watch.act("data", data="x", session=session))
            assert "kind" in reason(await watch.act("claimed", claim={"kind": "nobody"}))

    run(story)


def test_an_action_without_a_terminal_is_ignored_or_refused(tmp_path: Path) -> None:
    async def story() -> None:
        async with talking(tmp_path) as host:
            watch = await Watch.start(host, "cat")
            action = {"type": "terminal/titleChanged", "terminal": URI, "title": "x", "session": "demo:/none"}
            client = host.client(ME)
            # As older clients name it, in the action:
            assert await dispatch(client, 1, {**action, "terminal": "term:/none"}) is None
            assert await dispatch(client, 2, {**action, "session": URI, "type": "session/ready"}) is None
            for odd in ({**action, "terminal": 5}, {"type": "terminal/input"}):
                assert "$.terminal" in reason(await dispatch(client, 3, odd))
            # By its channel:
            assert await client.dispatch(4, "term:/none", action) is None
            for kind in ("session/ready", "session/titleChanged", "chat/turnCancelled", "root/configChanged"):
                refusal = await client.dispatch(5, URI, {**action, "type": kind})
                assert "not an action of its channel" in reason(refusal)
            await watch.act("titleChanged", title="last")
            await watch.until(lambda one: one.state["title"] == "last")
            assert watch.kinds == ["titleChanged"]

    run(story)


def test_input_that_a_program_does_not_read_is_bounded_and_blocks_nobody(tmp_path: Path) -> None:
    async def story() -> None:
        async with talking(tmp_path) as host:
            watch = await Watch.start(
                host, "stty raw -echo; echo ready; until [ -e done ]; do sleep 0.05; done; wc -c"
            )
            await watch.until_text("ready")
            assert "cannot be typed at once" in reason(await watch.act("input", data="x" * (MAX_INPUT + 1)))
            sent = 0
            while (refusal := await watch.act("input", data="x" * 10_000)) is None:
                sent += 10_000
            assert "does not read" in reason(refusal)
            assert sent < 1_000_000
            await host.parts.terminals.create("term:/2", claim_of("me"), command="echo well")
            await (await Watch.join(host, "term:/2")).until_text("well")

    run(story)


def test_a_long_paste_arrives_completely(tmp_path: Path) -> None:
    async def story() -> None:
        async with talking(tmp_path) as host:
            watch = await Watch.start(host, "stty raw -echo; echo ready; head -c 200000 | tee all | wc -c")
            await watch.until_text("ready")
            text = "".join(f"{number:07d}\n" for number in range(25_000))
            for begin in range(0, len(text), 50_000):
                await watch.type(text[begin : begin + 50_000])
            await watch.until_exit()
            assert (host.workspace / "all").read_text() == text

    run(story)


def test_a_client_releases_and_takes_terminals_but_not_those_of_others(tmp_path: Path) -> None:
    async def story() -> None:
        async with talking(tmp_path) as host:
            terminal = await host.parts.terminals.create(URI, CALL, command="cat")  # type: ignore[arg-type]
            me, you = await Watch.join(host), await Watch.join(host, client_id="you")
            assert "detach it first" in reason(await me.act("claimed", claim=claim_of("me")))
            assert await me.act("claimed", claim=SESSION) is None
            assert "only take a terminal for itself" in reason(await me.act("claimed", claim=claim_of("you")))
            assert await me.act("claimed", claim=claim_of("me")) is None
            assert "holds the terminal" in reason(await you.act("claimed", claim=claim_of("you")))
            assert await me.act("claimed", claim=claim_of("you")) is None
            assert terminal.claim == claim_of("you")
            await host.parts.engine.journal.wait()
            assert host.parts.engine.root.shown.state["terminals"][0]["claim"] == claim_of("you")

    run(story)


def test_nobody_types_into_a_terminal_whose_program_has_ended(tmp_path: Path) -> None:
    async def story() -> None:
        async with talking(tmp_path) as host:
            watch = await Watch.start(host, "true")
            await watch.until_exit()
            assert "has exited" in reason(await watch.act("input", data="x"))
            assert "has exited" in reason(await watch.act("resized", cols=10, rows=10))
            assert await watch.act("titleChanged", title="over") is None

    run(story)


@pytest.mark.parametrize("is_private", [False, True])
def test_input_is_shown_to_all_subscribers_unless_it_is_private(tmp_path: Path, is_private: bool) -> None:
    async def story() -> None:
        async with talking(tmp_path) as host:
            host.parts.terminals.has_private_input = is_private
            me = await Watch.start(host, "stty -echo; echo ready; cat > /dev/null")
            you = await Watch.join(host, client_id="you")
            for watch in (me, you):
                await watch.until_text("ready")
            await me.type("secret")
            await me.act("titleChanged", title="next")
            await host.parts.engine.journal.wait()
            both = ["terminal/input", "terminal/titleChanged"]
            assert await waiting(me.feed) == both
            assert await waiting(you.feed) == (both[1:] if is_private else both)
            kept = host.parts.terminals.get(URI).resource.replay.after(you.last_seen, "you") or []
            assert any(b"secret" in entry.envelope for entry in kept) is not is_private

    run(story)
