"""Plain values as answers to questions, and turns whose answer is incomplete."""

from typing import Any

from agenthost.client.ahp import AhpClient, stop_reason_of
from agenthost.client.ahp.answers import build_answers
from hosting import run


def select(kind: str, **more: Any) -> Any:
    options = [{"id": "r", "label": "Red"}, {"id": "b", "label": "Blue"}]
    return {"id": "1", "questions": [{"id": "q", "kind": kind, "message": "?", "options": options, **more}]}


def value_of(request: Any, value: Any) -> Any:
    answer: Any = build_answers(request, {"q": value})["q"]
    return answer["value"]


def test_free_text_is_separated_from_options() -> None:
    one, some = (select(kind, allowFreeformInput=True) for kind in ("single-select", "multi-select"))
    assert value_of(one, "r") == {"kind": "selected", "value": "r"}
    assert value_of(one, "pink") == {"kind": "selected", "value": "", "freeformValues": ["pink"]}
    both = {"kind": "selected-many", "value": ["b"], "freeformValues": ["pink"]}
    assert value_of(some, ["b", "pink"]) == both


def test_without_free_text_any_value_is_sent_as_an_option_for_the_host_to_check() -> None:
    assert value_of(select("single-select"), "pink") == {"kind": "selected", "value": "pink"}
    assert value_of(select("multi-select"), ["pink"]) == {"kind": "selected-many", "value": ["pink"]}


def test_a_client_can_tell_why_an_answer_is_incomplete(server: str) -> None:
    async def story() -> None:
        async with AhpClient(f"{server}/ahp") as client:
            session = await client.create("demo")
            said = {word: await session.say(word).turn() for word in ("hello", "/refuse", "/full")}
            reasons = {word: stop_reason_of(turn) for word, turn in said.items()}
            assert reasons == {"hello": None, "/refuse": "refusal", "/full": "max_tokens"}

    run(story)
