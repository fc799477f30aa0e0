"""Runs of streamed text: stored as one, one text for the state, and one by one again for whoever reads."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agenthost.core.actions import response_part
from agenthost.core.reducers import Live, reduce_chat
from agenthost.host.access.identity import Identity
from agenthost.host.log.text_runs import MAX_RUN, MAX_RUN_CHARACTERS, TextRun, actions_after, unpack
from agenthost.host.storage import Entry, SessionRow
from agenthost.host.storage.legacy_form import upgraded_session
from agenthost.wire.ahp.actions.text import TEXTS
from agenthost.wire.json import encode_json
from chat_building import BEGUN
from hosting import chat_of, new_session, new_states, run, started, user_message
from old_stores import select
from old_stores import unpack as unpack_store

URI = "demo:/one"
CHAT = chat_of(URI)
PARTS: list[Any] = [
    {"kind": "markdown", "id": "p1", "content": "so far "},
    {"kind": "reasoning", "id": "r1", "content": ""},
    {
        "kind": "toolCall",
        "toolCall": {"toolCallId": "c1", "toolName": "x", "displayName": "X", "status": "streaming"},
    },
]
TURN: Any = {"id": "t1", "startedAt": BEGUN, "message": user_message(), "responseParts": PARTS}

runs = st.builds(
    TextRun,
    st.sampled_from(["chat/delta", "chat/reasoning", "chat/toolCallDelta"]),
    st.just(CHAT),
    st.sampled_from(["t1", "t1", "t2"]),
    st.sampled_from(["p1", "r1", "c1", "none"]),
    st.lists(st.text(max_size=5), min_size=1, max_size=20),
)


def of(*texts: Any) -> TextRun:
    return TextRun("chat/delta", CHAT, "t1", "p1", list(texts))


def actions_of(run: TextRun) -> list[Any]:
    return [TEXTS[run.kind](run.turn, run.part, text) for text in run.texts]


@given(runs, st.integers(1, 2**53))
def test_envelopes_of_a_run_are_as_each_alone_would_be(of_one: TextRun, first: int) -> None:
    actions = enumerate(actions_of(of_one), first)
    alone = [encode_json({"channel": CHAT, "action": action, "serverSeq": seq}) for seq, action in actions]
    assert of_one.envelopes(first) == alone


@given(st.lists(runs, max_size=5))
def test_a_whole_run_does_the_same_to_a_state_as_all_of_its_actions(some: list[TextRun]) -> None:
    one_by_one = at_once = Live(new_states(URI, chat={"activeTurn": TURN}).chat)
    for one in some:
        at_once = reduce_chat(at_once, one.whole())
        for action in actions_of(one):
            one_by_one = reduce_chat(one_by_one, action)
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


def test_a_run_of_much_text_is_cut_into_small_ones() -> None:
    half = MAX_RUN_CHARACTERS // 2
    texts = ["x" * half, "y" * half, "z", "w" * (3 * half), "", "v"]
    assert [piece.texts for piece in of(*texts).pieces()] == [texts[:2], texts[2:3], texts[3:4], texts[4:]]


def test_what_is_no_text_is_cut_with_the_rest() -> None:
    assert [piece.texts for piece in of(None, "x" * MAX_RUN_CHARACTERS, "y", 1).pieces()] == [
        [None, "x" * MAX_RUN_CHARACTERS],
        ["y", 1],
    ]


def test_what_follows_a_number_in_a_run_is_a_run() -> None:
    assert [of("a", "b", "c").after(seen, 12).texts for seen in (8, 9, 10, 11)] == [
        ["a", "b", "c"],
        ["a", "b", "c"],
        ["b", "c"],
        ["c"],
    ]


@given(
    plan=st.lists(st.tuples(st.integers(1, 3), st.integers(1, 5), st.booleans()), max_size=10),
    after=st.integers(0, 30),
)
def test_stored_runs_are_read_one_by_one_and_in_order(plan: list[tuple[int, int, bool]], after: int) -> None:
    """Some texts are not in a run: each is an entry, and has what older clients are sent."""
    seq, stored, expected = 0, [], []
    for resource, count, is_single in plan:
        one = of(*(f"line\n{place}" for place in range(count)))
        lines = list(enumerate(one.envelopes(seq + 1), seq + 1))
        expected += [(number, resource, line) for number, line in lines]
        seq += count
        if is_single:
            old = [b'"action":{"type":"session/old"}'] * (count % 2)
            # Older hosts stored the number too.
            kept = [(number, line if count % 3 else line[1 : line.rindex(b",")]) for number, line in lines]
            stored += [Entry(number, resource, b"\n".join([line, *old])) for number, line in reversed(kept)]
        else:
            stored.append(Entry(seq, resource, one.packed()))
    found = [(one.seq, one.resource, one.envelope) for one in unpack(stored, after)]
    assert found == [one for one in expected if one[0] > after]
    in_order = sorted(stored, key=lambda entry: entry.seq)
    acted: list[Any] = list(actions_after(in_order, after))
    assert sum(count for _, count in acted) == len(found)
    texts = [json.loads(line)["action"]["content"] for _, _, line in found]
    assert "".join(action["content"] for action, _ in acted) == "".join(texts)


OLD_STATE = {
    "summary": {"resource": URI, "provider": "demo", "title": "Old", "status": 8},
    "lifecycle": "ready",
    "turns": [],
    "activeTurn": {"id": "t1", "userMessage": {"text": ""}, "responseParts": PARTS[:1]},
}


def stored_long_ago(first: int, texts: list[str], *, is_lines: bool) -> bytes:
    """Return a run as older stores had it: as envelopes, one a line, or as a list with the session's URI."""
    if not is_lines:
        return encode_json(["session/delta", URI, "t1", "p1", texts])
    ids = {"type": "session/delta", "session": URI, "turnId": "t1", "partId": "p1"}
    return b"\n".join(
        encode_json({"action": {**ids, "content": text}, "serverSeq": seq})
        for seq, text in enumerate(texts, first)
    )


@given(
    plan=st.lists(st.tuples(st.integers(1, 5), st.booleans()), max_size=10),
    after=st.integers(0, 30),
)
def test_runs_of_older_stores_have_the_same_text_in_either_form(
    plan: list[tuple[int, bool]], after: int
) -> None:
    seq, stored, expected = 0, [], "so far "
    for count, is_lines in plan:
        texts = [f"line\n{place} " for place in range(seq + 1, seq + count + 1)]
        expected += "".join(text for place, text in enumerate(texts, seq + 1) if place > after)
        data = stored_long_ago(seq + 1, texts, is_lines=is_lines)
        seq += count
        if seq > after:  # a snapshot is written with its entries: older ones are not read with it
            stored.append(Entry(seq, 1, data))
    summary = encode_json({**OLD_STATE["summary"], "createdAt": 1, "modifiedAt": 2})  # type: ignore[dict-item]
    row = SessionRow(1, URI, "one", "", True, summary, b"{}")
    upgraded = upgraded_session(row, encode_json(OLD_STATE), after, stored)
    chat = json.loads(upgraded.state)["chat"]
    assert chat["activeTurn"]["responseParts"][0]["content"] == expected


def test_one_that_saw_half_of_a_run_gets_the_other_half(tmp_path: Path) -> None:
    async def story() -> None:
        async with started(tmp_path) as host:
            session = await new_session(host, URI, chat={"activeTurn": TURN})
            before = host.line.shown_seq
            for place in range(10):
                session.stream("chat/delta", "t1", "p1", f"{place}\n")
            await host.journal.wait()
            stored = host.storage.load(session.number)
            assert stored is not None
            assert len(stored.entries) == 1
        async with started(tmp_path) as host:
            back = await host.feed(Identity("me")).resume(before + 6, [CHAT])
            assert back.replay is not None
            told = [json.loads(entry.envelope)["action"]["content"] for entry in back.replay]
            assert told == ["6\n", "7\n", "8\n", "9\n"]
            chat: Any = (await host.sessions.get(URI)).chat
            content = chat["activeTurn"]["responseParts"][0]["content"]
            assert content == "so far " + "".join(f"{place}\n" for place in range(10))

    run(story)


@pytest.mark.sqlite
def test_a_store_of_version_1_is_taken_over_with_its_runs(tmp_path: Path) -> None:
    unpack_store(1, tmp_path)
    found = select(tmp_path, "SELECT envelope FROM log WHERE instr(envelope, x'0A')")
    every = [[json.loads(line)["action"] for line in envelope.split(b"\n")] for (envelope,) in found]
    runs = [texts for texts in every if texts[0]["session"] == "demo:/long"]
    assert len(runs) >= 3

    async def story() -> None:
        async with started(tmp_path) as host:
            old = await host.sessions.get("demo:/long")
            for texts in runs:
                (turn,) = [turn for turn in old.chat["turns"] if turn["id"] == texts[0]["turnId"]]
                shown = [str(part.get("content")) for part in turn["responseParts"]]
                assert any("".join(text["content"] for text in texts) in one for one in shown)
            session = await host.sessions.get("demo:/running")
            before = host.line.shown_seq
            session.act(response_part("t1", {"kind": "markdown", "id": "new", "content": ""}))
            for place in range(3):
                session.stream("chat/delta", "t1", "new", f"{place}\n")
            await host.journal.wait()
            back = await host.feed(Identity("me")).resume(before, [session.chat_uri])
            assert back.replay is not None
            told = [json.loads(entry.envelope)["action"].get("content") for entry in back.replay]
            assert told == [None, "0\n", "1\n", "2\n"]
            chat: Any = session.chat
            assert chat["activeTurn"]["responseParts"][-1]["content"] == "0\n1\n2\n"

    run(story)
