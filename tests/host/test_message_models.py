"""The model that a message names: used for its turn, and the session's from then on."""

import itertools
from pathlib import Path
from typing import Any

import pytest

from agenthost.core import actions
from agenthost.core.session_meta import model_of
from agenthost.host.access.identity import Identity
from agenthost.host.authoring.agent import Model
from agenthost.host.authoring.turn import Turn
from agenthost.host.log.subscriptions import LogItem
from hosting import run
from talking import Talk, talking
from turning import made, tell

MODELS = [Model("small"), Model("large")]

_numbers = itertools.count(1)


async def names_its_model(turn: Turn) -> None:
    model = turn.model
    await turn.say(f"{'none' if model is None else model.id} {dict(turn.model_config)}")


async def dispatch(talk: Talk, action: Any) -> LogItem | None:
    """Dispatch an action to the chat; returns the refusal, if it is refused."""
    client = talk.host.client(Identity(talk.client_id))
    return await client.dispatch(next(_numbers), talk.session.chat_uri, action)


def message(text: str, model: Any = None) -> Any:
    return {"text": text, "origin": {"kind": "user"}, **({} if model is None else {"model": model})}


async def say(talk: Talk, model: Any = None) -> str:
    """Have a turn whose message names this model; returns the answer."""
    talk.turn_id = f"m{next(_numbers)}"
    started = actions.turn_started(talk.turn_id, message("Hi", model), talk.session.now())
    assert await dispatch(talk, started) is None
    await talk.finish()
    return talk.answer


def test_the_model_of_a_message_is_that_of_its_turn_and_of_those_that_follow(tmp_path: Path) -> None:
    async def story(talk: Talk) -> None:
        assert await say(talk) == "small {}"
        assert model_of(talk.session.state) is None
        assert await say(talk, {"id": "large", "config": {"effort": "high"}}) == "large {'effort': 'high'}"
        assert await say(talk) == "large {'effort': 'high'}"
        assert await say(talk, {"id": "small"}) == "small {}"
        assert model_of(talk.session.state) == {"id": "small"}
        assert talk.state["summary"]["model"] == {"id": "small"}

    tell(tmp_path, names_its_model, story, models=MODELS)


def test_the_model_changes_before_the_turn_and_in_its_commit(tmp_path: Path) -> None:
    async def story(talk: Talk) -> None:
        stats = talk.host.parts.engine.journal.stats
        await say(talk)  # it also names the session
        before = stats.commits
        talk.turn_id = "t1"
        started = actions.turn_started("t1", message("Hi", {"id": "large"}), talk.session.now())
        await dispatch(talk, started)
        heard = await talk.finish()
        assert [action["type"] for action in heard.actions][:2] == [
            "session/modelChanged",
            "session/turnStarted",
        ]
        assert heard.of("modelChanged")[0]["model"] == {"id": "large"}
        assert stats.commits == before + 1
        talk.turn_id = "t2"
        await dispatch(talk, actions.turn_started("t2", message("Hi", {"id": "large"}), talk.session.now()))
        assert (await talk.finish()).of("modelChanged") == []

    tell(tmp_path, names_its_model, story, models=MODELS)


@pytest.mark.parametrize("kind", ["turn", "queued", "steering"])
def test_a_model_that_is_not_on_offer_is_refused_and_nothing_changes(tmp_path: Path, kind: Any) -> None:
    async def story(talk: Talk) -> None:
        before = talk.session.conversation
        said = message("Hi", {"id": "huge"})
        if kind == "turn":
            refusal = await dispatch(talk, actions.turn_started("t1", said, talk.session.now()))
        else:
            refusal = await dispatch(talk, actions.pending_message_set(kind, "q1", said))
        assert "there is no model 'huge'" in str(refusal and refusal.reason)
        assert talk.session.conversation == before

    tell(tmp_path, names_its_model, story, models=MODELS)


def test_the_model_of_a_queued_message_is_chosen_when_its_turn_begins(tmp_path: Path) -> None:
    async def asks(turn: Turn) -> None:
        if turn.text == "first":
            await turn.ask("Well?")
        await names_its_model(turn)

    async def story(talk: Talk) -> None:
        talk.turn_id = "t1"
        await dispatch(talk, actions.turn_started("t1", message("first"), talk.session.now()))
        asked = await talk.hear_one("inputRequested")
        queued = actions.pending_message_set("queued", "q1", message("second", {"id": "large"}))
        assert await dispatch(talk, queued) is None
        assert model_of(talk.session.state) is None
        await talk.reply(asked, response="cancel")
        first = await talk.finish()
        assert first.text == "small {}"
        second = await talk.hear(lambda action: action["type"] == "session/turnComplete")
        assert second.text == "large {}"
        assert model_of(talk.session.state) == {"id": "large"}

    tell(tmp_path, asks, story, models=MODELS)


def test_the_model_that_stands_for_an_agent_is_chosen_by_naming_it_and_changes_nothing(
    tmp_path: Path,
) -> None:
    async def story(talk: Talk) -> None:
        assert await say(talk, {"id": "demo"}) == "none {}"
        assert model_of(talk.session.state) is None
        assert "model" not in talk.state["summary"]

    tell(tmp_path, names_its_model, story)


def test_a_model_with_the_name_of_its_agent_is_a_model_like_others(tmp_path: Path) -> None:
    async def story(talk: Talk) -> None:
        assert await say(talk, {"id": "large"}) == "large {}"
        assert await say(talk, {"id": "demo"}) == "demo {}"

    tell(tmp_path, names_its_model, story, models=[Model("demo"), Model("large")])


def test_the_model_is_there_after_a_restart(tmp_path: Path) -> None:
    async def story() -> None:
        agent = made(names_its_model, models=MODELS)
        async with talking(tmp_path, agent) as host:
            talk = await Talk.begin(host)
            await say(talk, {"id": "large"})
        async with talking(tmp_path, agent) as host:
            talk = await Talk.join(host, talk.uri)
            assert await say(talk) == "large {}"
            (turn, _) = talk.session.chat["turns"]
            assert turn["message"]["model"] == {"id": "large"}

    run(story)
