"""A client's view of the turns of a chat: the fold of what it is sent is the state within its view."""

from typing import Any

import pytest

from agenthost.core import actions
from agenthost.core.reducers import Live, reduce_chat
from agenthost.core.turn_view import PAGE, TurnView
from agenthost.errors import InvalidValue
from chance import Chance


def chat_with(*ids: str) -> Any:
    return {
        "resource": "c",
        "title": "",
        "status": 1,
        "modifiedAt": "",
        "turns": [turn(name) for name in ids],
    }


def turn(name: str) -> Any:
    message = {"text": name, "origin": {"kind": "user"}}
    return {"id": name, "startedAt": "", "message": message, "responseParts": [], "state": "complete"}


def applied(state: Any, action: Any) -> Any:
    return state if action is None else reduce_chat(Live(state), action).state


@pytest.mark.parametrize("seed", range(50))
def test_the_fold_of_what_is_sent_is_the_state_within_the_view(seed: int) -> None:
    random = Chance(seed).random
    names = iter(f"t{number}" for number in range(10_000))
    chat = chat_with(*[next(names) for _ in range(random.randrange(12))])
    view = TurnView.of(chat["turns"], random.randrange(5))
    seen: Any = view.restrict(chat)
    for _ in range(40):
        loaded: Any = None
        action: Any = None
        match random.randrange(4):
            case 0:
                cursor = random.choice([None, view.cursor])
                view, loaded = view.load_page(chat["turns"], cursor)
            case 1 if len(chat["turns"]) > 3:
                named = random.choice([None, *[one["id"] for one in chat["turns"]]])
                action = actions.truncated(named)
                view, loaded = view.load_for(chat["turns"], action)
            case _:
                name = next(names)
                seen, chat = (
                    {**one, "activeTurn": {"id": name, "startedAt": "", "message": {}, "responseParts": []}}
                    for one in (seen, chat)
                )
                action = actions.turn_complete(name, 0)
        seen = applied(applied(seen, loaded), action)
        chat = applied(chat, action)
        assert seen == view.restrict(chat)


def test_a_page_is_as_long_as_the_view_was_at_first() -> None:
    chat = chat_with(*[f"t{number}" for number in range(50)])
    for size, page in ((3, 3), (0, PAGE)):
        view, loaded = TurnView.of(chat["turns"], size).load_page(chat["turns"], None)
        assert loaded is not None
        assert (len(loaded["turns"]), view.hidden) == (page, 50 - size - page)


def test_a_cursor_that_is_not_the_newest_is_refused() -> None:
    turns = chat_with("a", "b", "c")["turns"]
    view = TurnView.of(turns, 1)
    later, _ = view.load_page(turns, view.cursor)
    for cursor in (view.cursor, "", "turns-before-9"):
        with pytest.raises(InvalidValue):
            later.load_page(turns, cursor)


def test_a_view_begins_where_it_did_before_if_that_turn_is_still_there() -> None:
    turns = chat_with("a", "b", "c", "d")["turns"]
    found = [TurnView.of(turns, 2, first).hidden for first in (None, "a", "b", "d", "gone")]
    assert found == [2, 0, 1, 2, 2]


def test_a_turn_that_is_not_there_loads_nothing() -> None:
    turns = chat_with("a", "b")["turns"]
    view = TurnView.of(turns, 1)
    assert view.load_for(turns, actions.truncated("gone")) == (view, None)
