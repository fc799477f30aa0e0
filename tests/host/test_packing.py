"""Runs of streamed text: packed for the store, and one by one again for whoever reads."""

import json
from pathlib import Path
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from agenthost.host.packing import MAX_RUN, pack, unpack
from agenthost.host.storage import DropSession, Entry
from agenthost.host.subscriptions import Shown
from agenthost.wire.ahp.actions.text import SessionDelta
from agenthost.wire.json import encode_json
from hosting import new_state, run, started

URI = "demo:/one"


def delta(seq: int, resource: int = 1) -> Shown:
    action = SessionDelta(URI, "t1", "p1", f"line\n{seq}")
    return Shown(seq, resource, encode_json({"action": action, "serverSeq": seq}), None, action)


def other(seq: int, resource: int = 1) -> Shown:
    action: Any = {"type": "session/ready", "session": URI}
    return Shown(seq, resource, encode_json({"action": action, "serverSeq": seq}), None, action)


def rows(writes: list[Any]) -> list[tuple[int, int]]:
    return [(write.seq, write.envelope.count(b"\n") + 1) for write in writes]


def test_deltas_of_one_session_become_one_entry_under_the_last_number() -> None:
    assert rows(pack([delta(1), delta(2), delta(3)])) == [(3, 3)]


def test_anything_else_of_the_session_ends_the_run() -> None:
    assert rows(pack([delta(1), delta(2), other(3), delta(4), delta(5)])) == [(2, 2), (3, 1), (5, 2)]


def test_sessions_that_stream_by_turns_have_a_run_each_and_numbers_ascend() -> None:
    assert rows(pack([delta(1, 1), delta(2, 2), delta(3, 1), delta(4, 2)])) == [(3, 2), (4, 2)]


def test_other_writes_stay_where_they_are() -> None:
    drop = DropSession(2)
    assert pack([delta(1), drop])[1] is drop


def test_a_run_has_an_end() -> None:
    packed = pack([delta(seq) for seq in range(1, MAX_RUN + 2)])
    assert rows(packed) == [(MAX_RUN, MAX_RUN), (MAX_RUN + 1, 1)]


@given(
    plan=st.lists(st.tuples(st.integers(1, 3), st.booleans()), max_size=30),
    after=st.integers(0, 30),
)
def test_whatever_is_packed_is_unpacked_one_by_one_and_in_order(
    plan: list[tuple[int, bool]], after: int
) -> None:
    writes = [
        delta(seq, resource) if is_text else other(seq, resource)
        for seq, (resource, is_text) in enumerate(plan, 1)
    ]
    packed = [write for write in pack(writes) if isinstance(write, Entry)]
    assert [entry.seq for entry in packed] == sorted(entry.seq for entry in packed)
    expected = [(write.seq, write.resource, write.envelope) for write in writes if write.seq > after]
    assert [(one.seq, one.resource, one.envelope) for one in unpack(packed, after)] == expected


def test_one_that_saw_half_of_a_run_gets_the_other_half(tmp_path: Path) -> None:
    part = {"kind": "markdown", "id": "p1", "content": ""}
    turn = {"id": "t1", "userMessage": {"text": ""}, "responseParts": [part]}

    async def story() -> None:
        async with started(tmp_path) as host:
            session = await host.sessions.create(new_state(URI, activeTurn=turn))
            for place in range(10):
                session.act(SessionDelta(URI, "t1", "p1", f"{place}\n"))
            await host.journal.wait()
            stored = host.storage.load(session.number)
            assert stored is not None
            assert len(stored.entries) == 1
        async with started(tmp_path) as host:
            back = await host.feed("me").resume(6, [URI])
            assert back.replay is not None
            told = [json.loads(entry.envelope)["action"]["content"] for entry in back.replay]
            assert told == ["6\n", "7\n", "8\n", "9\n"]
            state: Any = (await host.sessions.get(URI)).state
            assert state["activeTurn"]["responseParts"][0]["content"] == "".join(f"{p}\n" for p in range(10))

    run(story)
