"""Runs of streamed text: stored as one, one text for the state, and one by one again for whoever reads."""

import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from agenthost.core.reducers import Live, reduce_session
from agenthost.host.identity import Identity
from agenthost.host.packing import MAX_RUN, Run, happened, unpack
from agenthost.host.storage import Entry
from agenthost.host.storage.sqlite import FILE
from agenthost.wire.ahp.actions.text import TEXTS
from agenthost.wire.json import encode_json
from hosting import new_state, run, started
from storing import make_older

URI = "demo:/one"
PARTS: list[Any] = [
    {"kind": "markdown", "id": "p1", "content": "so far "},
    {"kind": "reasoning", "id": "r1", "content": ""},
    {
        "kind": "toolCall",
        "toolCall": {"toolCallId": "c1", "toolName": "x", "displayName": "X", "status": "streaming"},
    },
]
TURN: Any = {"id": "t1", "userMessage": {"text": ""}, "responseParts": PARTS}

runs = st.builds(
    Run,
    st.sampled_from(["session/delta", "session/reasoning", "session/toolCallDelta"]),
    st.just(URI),
    st.sampled_from(["t1", "t1", "t2"]),
    st.sampled_from(["p1", "r1", "c1", "none"]),
    st.lists(st.text(max_size=5), min_size=1, max_size=20),
)


def of(*texts: Any) -> Run:
    return Run("session/delta", URI, "t1", "p1", list(texts))


def actions_of(run: Run) -> list[Any]:
    return [TEXTS[run.kind](run.session, run.turn, run.part, text) for text in run.texts]


@given(runs, st.integers(1, 2**53))
def test_envelopes_of_a_run_are_as_each_alone_would_be(of_one: Run, first: int) -> None:
    actions = enumerate(actions_of(of_one), first)
    alone = [encode_json({"action": action, "serverSeq": seq}) for seq, action in actions]
    assert of_one.envelopes(first) == alone


@given(st.lists(runs, max_size=5))
def test_a_whole_run_does_the_same_to_a_state_as_all_of_its_actions(some: list[Run]) -> None:
    one_by_one = at_once = Live(new_state(URI, activeTurn=TURN))
    for one in some:
        at_once = reduce_session(at_once, one.whole(), 0)
        for action in actions_of(one):
            one_by_one = reduce_session(one_by_one, action, 0)
    assert at_once.state == one_by_one.state


def test_half_a_character_becomes_a_mark_and_two_halves_a_character() -> None:
    assert of("x\ud83d", "\ud83d\ude00").mended() == of("x\ufffd", "\U0001f600")


def test_what_is_no_text_is_left_out() -> None:
    assert of("a", None, 1).mended() == of("a")


def test_a_long_run_is_cut_into_short_ones() -> None:
    texts = [str(place) for place in range(2 * MAX_RUN + 1)]
    pieces = list(of(*texts).pieces())
    assert [len(piece.texts) for piece in pieces] == [MAX_RUN, MAX_RUN, 1]
    assert [text for piece in pieces for text in piece.texts] == texts


def stored_as_lines(run: Run, first: int) -> bytes:
    """Give a run as version 1 of the store had it."""
    return b"\n".join(run.envelopes(first))


@given(
    plan=st.lists(st.tuples(st.integers(1, 3), st.integers(1, 5), st.booleans()), max_size=10),
    after=st.integers(0, 30),
)
def test_stored_runs_are_read_one_by_one_and_in_order(plan: list[tuple[int, int, bool]], after: int) -> None:
    seq, stored, expected = 0, [], []
    for resource, count, is_old in plan:
        one = of(*(f"line\n{place}" for place in range(count)))
        lines = one.envelopes(seq + 1)
        expected += [(seq + place, resource, line) for place, line in enumerate(lines, 1)]
        data = stored_as_lines(one, seq + 1) if is_old else one.packed()
        seq += count
        stored.append(Entry(seq, resource, data))
    found = [(one.seq, one.resource, one.envelope) for one in unpack(stored, after)]
    assert found == [one for one in expected if one[0] > after]
    acted: list[Any] = list(happened(stored, after))
    assert sum(count for _, count in acted) == len(found)
    texts = [json.loads(line)["action"]["content"] for _, _, line in found]
    assert "".join(action["content"] for action, _ in acted) == "".join(texts)


def test_one_that_saw_half_of_a_run_gets_the_other_half(tmp_path: Path) -> None:
    async def story() -> None:
        async with started(tmp_path) as host:
            session = await host.sessions.create(new_state(URI, activeTurn=TURN))
            before = host.journal.last_seq
            for place in range(10):
                session.stream("session/delta", "t1", "p1", f"{place}\n")
            await host.journal.wait()
            stored = host.storage.load(session.number)
            assert stored is not None
            assert len(stored.entries) == 1
        async with started(tmp_path) as host:
            back = await host.feed(Identity("me")).resume(before + 6, [URI])
            assert back.replay is not None
            told = [json.loads(entry.envelope)["action"]["content"] for entry in back.replay]
            assert told == ["6\n", "7\n", "8\n", "9\n"]
            state: Any = (await host.sessions.get(URI)).state
            content = state["activeTurn"]["responseParts"][0]["content"]
            assert content == "so far " + "".join(f"{place}\n" for place in range(10))

    run(story)


def test_a_store_of_version_1_is_taken_over_with_its_runs(tmp_path: Path) -> None:
    async def story() -> None:
        async with started(tmp_path) as host:
            session = await host.sessions.create(new_state(URI, activeTurn=TURN))
            before = host.journal.last_seq
            for place in range(3):
                session.stream("session/delta", "t1", "p1", f"{place}\n")
            await host.journal.wait()
        with closing(sqlite3.connect(tmp_path / FILE, isolation_level=None)) as store:
            lines = stored_as_lines(of("0\n", "1\n", "2\n"), before + 1)
            store.execute("UPDATE log SET envelope = ? WHERE seq = ?", (lines, before + 3))
        make_older(tmp_path / FILE, 1)
        async with started(tmp_path) as host:
            again = await host.sessions.get(URI)
            again.stream("session/delta", "t1", "p1", "3\n")
            await host.journal.wait()
            back = await host.feed(Identity("me")).resume(before, [URI])
            assert back.replay is not None
            assert [json.loads(entry.envelope)["action"]["content"] for entry in back.replay] == [
                f"{place}\n" for place in range(4)
            ]
            state: Any = again.state
            assert state["activeTurn"]["responseParts"][0]["content"] == "so far 0\n1\n2\n3\n"

    run(story)
