"""Runs of streamed text: encoded as one, joined for the state, and one by one again for whoever reads."""

import json
from pathlib import Path
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from agenthost.core.reducers import Live, reduce_session
from agenthost.host.packing import encode_run, joined, mended, unpack
from agenthost.host.storage import Entry
from agenthost.wire.ahp.actions.text import SessionDelta, SessionReasoning, SessionToolCallDelta
from agenthost.wire.json import encode_json
from hosting import new_state, run, started

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

texts = st.builds(
    lambda kind, turn, part, text: kind(URI, turn, part, text),
    st.sampled_from([SessionDelta, SessionReasoning, SessionToolCallDelta]),
    st.sampled_from(["t1", "t1", "t2"]),
    st.sampled_from(["p1", "r1", "c1", "none"]),
    st.text(max_size=5),
)


def delta(text: str, part: str = "p1") -> SessionDelta:
    return SessionDelta(URI, "t1", part, text)


@given(st.lists(texts, min_size=1, max_size=20), st.integers(1, 2**53))
def test_a_run_is_the_envelopes_one_a_line_as_each_alone_would_be(actions: list[Any], first: int) -> None:
    alone = [encode_json({"action": action, "serverSeq": seq}) for seq, action in enumerate(actions, first)]
    assert encode_run(actions, first).split(b"\n") == alone


@given(st.lists(texts, max_size=20))
def test_joined_texts_do_the_same_to_a_state_as_all_of_them(actions: list[Any]) -> None:
    one_by_one = at_once = Live(new_state(URI, activeTurn=TURN))
    for action in actions:
        one_by_one = reduce_session(one_by_one, action, 0)
    for action in joined(actions):
        at_once = reduce_session(at_once, action, 0)
    assert at_once.state == one_by_one.state


def test_what_goes_on_in_one_part_is_joined_and_the_order_stays() -> None:
    actions: list[Any] = [
        delta("a"),
        delta("b"),
        delta("c", "p2"),
        delta("d"),
        SessionReasoning(URI, "t1", "p1", "e"),
    ]
    assert [action.content for action in joined(actions)] == ["ab", "c", "d", "e"]


def test_half_a_character_becomes_a_mark_and_two_halves_a_character() -> None:
    assert mended([delta("x\ud83d"), delta("\ud83d\ude00")]) == [delta("x\ufffd"), delta("\U0001f600")]


def test_what_is_no_text_is_left_out() -> None:
    rubbish: Any = [delta("a"), SessionDelta(URI, "t1", "p1", None), {"type": "session/delta"}, None]  # type: ignore[arg-type]
    assert mended(rubbish) == [delta("a")]


@given(plan=st.lists(st.tuples(st.integers(1, 3), st.integers(1, 5)), max_size=10), after=st.integers(0, 30))
def test_stored_runs_are_read_one_by_one_and_in_order(plan: list[tuple[int, int]], after: int) -> None:
    seq, stored, expected = 0, [], []
    for resource, count in plan:
        lines = encode_run([delta(f"line\n{place}") for place in range(count)], seq + 1)
        expected += [(seq + place, resource, line) for place, line in enumerate(lines.split(b"\n"), 1)]
        seq += count
        stored.append(Entry(seq, resource, lines))
    found = [(one.seq, one.resource, one.envelope) for one in unpack(stored, after)]
    assert found == [one for one in expected if one[0] > after]


def test_one_that_saw_half_of_a_run_gets_the_other_half(tmp_path: Path) -> None:
    async def story() -> None:
        async with started(tmp_path) as host:
            session = await host.sessions.create(new_state(URI, activeTurn=TURN))
            before = host.journal.last_seq
            for place in range(10):
                session.stream(delta(f"{place}\n"))
            await host.journal.wait()
            stored = host.storage.load(session.number)
            assert stored is not None
            assert len(stored.entries) == 1
        async with started(tmp_path) as host:
            back = await host.feed("me").resume(before + 6, [URI])
            assert back.replay is not None
            told = [json.loads(entry.envelope)["action"]["content"] for entry in back.replay]
            assert told == ["6\n", "7\n", "8\n", "9\n"]
            state: Any = (await host.sessions.get(URI)).state
            content = state["activeTurn"]["responseParts"][0]["content"]
            assert content == "so far " + "".join(f"{place}\n" for place in range(10))

    run(story)
