"""The events of a session: each is reported once and in order, however the states came about."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from agenthost.cli.chat.render.events import (
    CallEnded,
    ContentAdded,
    EventReader,
    Notice,
    SessionEvent,
    TextDelta,
    TextDone,
    TurnEnded,
    TurnsRemoved,
    TurnStarted,
)


def text(content: str, part_id: str = "a") -> Any:
    return {"kind": "markdown", "id": part_id, "content": content}


def call(status: str, name: str = "c") -> Any:
    return {"kind": "toolCall", "toolCall": {"toolCallId": name, "status": status}}


def turn(*parts: Any, name: str = "1", state: str | None = "complete") -> Any:
    made = {"id": name, "message": {"text": f"say {name}"}, "responseParts": list(parts)}
    return made if state is None else {**made, "state": state}


def session(*turns: Any, active: Any = None) -> Any:
    return {"turns": list(turns), **({"activeTurn": active} if active else {})}


def reported(*states: Any) -> list[SessionEvent]:
    reader = EventReader()
    return [event for state in states for event in reader.read(state)]


def test_a_turn_is_reported_as_it_grows_and_nothing_twice() -> None:
    growing = [session(active=turn(*parts, state=None)) for parts in ((), (text("He"),), (text("Hello"),))]
    whole = turn(text("Hello"))
    assert reported(*growing, growing[-1], session(whole), session(whole)) == [
        TurnStarted("1", {"text": "say 1"}),
        TextDelta("text", "He"),
        TextDelta("text", "llo"),
        TextDone(),
        TurnEnded(whole),
    ]


def test_a_call_is_reported_when_it_ends_and_the_rest_waits_for_it() -> None:
    reader = EventReader()
    waiting = session(active=turn(call("running"), call("completed", "d"), text("after"), state=None))
    assert list(reader.read(waiting)) == [TurnStarted("1", {"text": "say 1"})]
    assert [one["toolCallId"] for one in reader.unreported_calls(waiting)] == ["c", "d"]
    done = session(active=turn(call("completed"), call("completed", "d"), text("after"), state=None))
    kinds = [type(event) for event in reader.read(done)]
    assert kinds == [CallEnded, CallEnded, TextDelta]
    assert reader.unreported_calls(done) == []
    assert reader.unreported_calls(session()) == []


def test_states_that_were_missed_are_reported_completely() -> None:
    notice = {"kind": "systemNotification", "content": {"markdown": "careful"}}
    content = {"kind": "contentRef", "uri": "x:/1"}
    thought = {"kind": "reasoning", "id": "r", "content": "hm"}
    first = session(active=turn(text("He"), state=None))
    later = session(turn(text("Hello"), notice, content), turn(thought, name="2", state="cancelled"))
    assert reported(first, later)[2:] == [
        TextDelta("text", "llo"),
        TextDone(),
        Notice("careful"),
        ContentAdded(content),
        TurnEnded(later["turns"][0]),
        TurnStarted("2", {"text": "say 2"}),
        TextDelta("thought", "hm"),
        TextDone(),
        TurnEnded(later["turns"][1]),
    ]


def test_only_the_last_turns_of_a_long_session_are_reported() -> None:
    reader = EventReader()
    state = session(*(turn(text(name), name=name) for name in "abcd"))
    assert reader.skip(state, 1) == 3
    assert [event.turn_id for event in reader.read(state) if isinstance(event, TurnStarted)] == ["d"]
    assert EventReader().skip(state, 9) == 0


def test_an_unknown_call_status_does_not_keep_a_turn_from_ending() -> None:
    odd = turn(call("paused"), text("after"))
    assert [type(event) for event in reported(session(odd))] == [
        TurnStarted,
        CallEnded,
        TextDelta,
        TextDone,
        TurnEnded,
    ]


def test_removed_turns_are_reported() -> None:
    one, two, three = (turn(text(name), name=name) for name in "123")
    assert reported(session(one, two), session(one))[-1] == TurnsRemoved(1)
    assert reported(session(one, two), session(one, three))[8:10] == [
        TurnsRemoved(1),
        TurnStarted("3", {"text": "say 3"}),
    ]
    running = session(active=turn(text("x"), name="9", state=None))
    assert reported(running, session())[-1] == TurnsRemoved(1)
    assert reported(running, session(one))[2] == TurnsRemoved(1)


@given(st.lists(st.text(min_size=1, max_size=5), max_size=6), st.data())
def test_the_deltas_add_up_to_the_text_whatever_states_are_read(
    deltas: list[str], data: st.DataObject
) -> None:
    grown = ["".join(deltas[:count]) for count in range(len(deltas) + 1)]
    seen = data.draw(st.lists(st.sampled_from(grown), max_size=5).map(lambda some: sorted(some, key=len)))
    states = [session(active=turn(text(content), state=None)) for content in seen]
    events = reported(*states, session(turn(text(grown[-1]))))
    assert "".join(event.text for event in events if isinstance(event, TextDelta)) == grown[-1]
    assert sum(isinstance(event, TurnStarted | TurnEnded) for event in events) == 2
