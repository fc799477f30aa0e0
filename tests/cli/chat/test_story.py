"""The story: a session's states, told once and in order, however they came about."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from agenthost.cli.chat.story import Called, Cut, Ended, Event, Over, Piece, Said, Shown, Story, Told


def text(content: str, part_id: str = "a") -> Any:
    return {"kind": "markdown", "id": part_id, "content": content}


def call(status: str, name: str = "c") -> Any:
    return {"kind": "toolCall", "toolCall": {"toolCallId": name, "status": status}}


def turn(*parts: Any, name: str = "1", state: str | None = "complete") -> Any:
    made = {"id": name, "userMessage": {"text": f"say {name}"}, "responseParts": list(parts)}
    return made if state is None else {**made, "state": state}


def states(*turns: Any, active: Any = None) -> Any:
    return {"turns": list(turns), **({"activeTurn": active} if active else {})}


def told(*looks: Any) -> list[Event]:
    story = Story()
    return [event for state in looks for event in story.look(state)]


def test_a_turn_is_told_as_it_grows_and_nothing_twice() -> None:
    looks = [states(active=turn(*parts, state=None)) for parts in ((), (text("He"),), (text("Hello"),))]
    whole = turn(text("Hello"))
    assert told(*looks, looks[-1], states(whole), states(whole)) == [
        Said("1", {"text": "say 1"}),
        Piece("text", "He"),
        Piece("text", "llo"),
        Over(),
        Ended(whole),
    ]


def test_a_call_is_told_when_it_is_over_and_what_follows_waits_for_it() -> None:
    story = Story()
    waiting = states(active=turn(call("running"), call("completed", "d"), text("after"), state=None))
    assert list(story.look(waiting)) == [Said("1", {"text": "say 1"})]
    assert [one["toolCallId"] for one in story.waiting(waiting)] == ["c", "d"]
    done = states(active=turn(call("completed"), call("completed", "d"), text("after"), state=None))
    kinds = [type(event) for event in story.look(done)]
    assert kinds == [Called, Called, Piece]
    assert story.waiting(done) == []
    assert story.waiting(states()) == []


def test_what_happened_while_nobody_looked_is_told_whole() -> None:
    notice = {"kind": "systemNotification", "content": {"markdown": "careful"}}
    content = {"kind": "contentRef", "uri": "x:/1"}
    thought = {"kind": "reasoning", "id": "r", "content": "hm"}
    first = states(active=turn(text("He"), state=None))
    later = states(turn(text("Hello"), notice, content), turn(thought, name="2", state="cancelled"))
    assert told(first, later)[2:] == [
        Piece("text", "llo"),
        Over(),
        Told("careful"),
        Shown(content),
        Ended(later["turns"][0]),
        Said("2", {"text": "say 2"}),
        Piece("thought", "hm"),
        Over(),
        Ended(later["turns"][1]),
    ]


def test_only_the_last_turns_are_told_of_a_long_session() -> None:
    story = Story()
    state = states(*(turn(text(name), name=name) for name in "abcd"))
    assert story.skip(state, 1) == 3
    assert [event.turn_id for event in story.look(state) if isinstance(event, Said)] == ["d"]
    assert Story().skip(state, 9) == 0


def test_a_call_in_a_state_of_the_future_keeps_no_turn_from_its_end() -> None:
    odd = turn(call("paused"), text("after"))
    assert [type(event) for event in told(states(odd))] == [Said, Called, Piece, Over, Ended]


def test_turns_that_are_taken_out_are_told_as_gone() -> None:
    one, two, three = (turn(text(name), name=name) for name in "123")
    assert told(states(one, two), states(one))[-1] == Cut(1)
    assert told(states(one, two), states(one, three))[8:10] == [Cut(1), Said("3", {"text": "say 3"})]
    running = states(active=turn(text("x"), name="9", state=None))
    assert told(running, states())[-1] == Cut(1)
    assert told(running, states(one))[2] == Cut(1)


@given(st.lists(st.text(min_size=1, max_size=5), max_size=6), st.data())
def test_the_pieces_are_the_text_wherever_it_is_looked_at(pieces: list[str], data: st.DataObject) -> None:
    grown = ["".join(pieces[:count]) for count in range(len(pieces) + 1)]
    seen = data.draw(st.lists(st.sampled_from(grown), max_size=5).map(lambda some: sorted(some, key=len)))
    looks = [states(active=turn(text(content), state=None)) for content in seen]
    events = told(*looks, states(turn(text(grown[-1]))))
    assert "".join(event.text for event in events if isinstance(event, Piece)) == grown[-1]
    assert sum(isinstance(event, Said | Ended) for event in events) == 2
