"""Plain values as answers, and answers that stopped early."""

from typing import Any

from agenthost.client.ahp import AhpClient, stop_reason_of
from agenthost.client.ahp.answers import answers_of
from hosting import run


def select(kind: str, **more: Any) -> Any:
    options = [{"id": "r", "label": "Red"}, {"id": "b", "label": "Blue"}]
    return {"id": "1", "questions": [{"id": "q", "kind": kind, "message": "?", "options": options, **more}]}


def value_of(request: Any, value: Any) -> Any:
    answer: Any = answers_of(request, {"q": value})["q"]
    return answer["value"]


def test_what_is_answered_beside_the_options_is_told_from_them() -> None:
    one, some = (select(kind, allowFreeformInput=True) for kind in ("single-select", "multi-select"))
    assert value_of(one, "r") == {"kind": "selected", "value": "r"}
    assert value_of(one, "pink") == {"kind": "selected", "value": "", "freeformValues": ["pink"]}
    both = {"kind": "selected-many", "value": ["b"], "freeformValues": ["pink"]}
    assert value_of(some, ["b", "pink"]) == both


def test_where_only_options_may_be_chosen_the_host_judges_what_is_none() -> None:
    assert value_of(select("single-select"), "pink") == {"kind": "selected", "value": "pink"}
    assert value_of(select("multi-select"), ["pink"]) == {"kind": "selected-many", "value": ["pink"]}


def test_a_client_can_tell_why_an_answer_is_not_whole(server: str) -> None:
    async def story() -> None:
        async with AhpClient(f"{server}/ahp") as client:
            session = await client.create("demo")
            said = {word: await session.say(word).turn() for word in ("hello", "/refuse", "/full")}
            reasons = {word: stop_reason_of(turn) for word, turn in said.items()}
            assert reasons == {"hello": None, "/refuse": "refusal", "/full": "max_tokens"}

    run(story)
