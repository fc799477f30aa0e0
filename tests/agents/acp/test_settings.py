"""What can be chosen in a session of a program that speaks ACP, and what it chooses by itself."""

from pathlib import Path
from typing import Any

import pytest

from acp_acting import Served, acting
from agenthost.agents.acp.settings import MODE, MODEL, SessionSettings
from hosting import run
from talking import Talk, talking
from turning import parts, until_call


async def mode_of(talk: Talk) -> str:
    """Ask the program which mode it is in."""
    return (await talk.say("mode")).text


def test_its_modes_are_a_setting_of_the_session(served: Served) -> None:
    async def story() -> None:
        talk = await served.talk()
        config = talk.state["config"]
        mode = config["schema"]["properties"]["mode"]
        assert (mode["enum"], mode["enumLabels"]) == (["ask", "auto"], ["Ask", "Auto"])
        assert config["values"] == {"mode": "ask"}
        assert await mode_of(talk) == "ask"
        assert await talk.act("configChanged", config={"mode": "auto"}) is None
        assert await mode_of(talk) == "auto"

    served.run(story())


def test_a_session_may_begin_in_another_mode(served: Served) -> None:
    async def story() -> None:
        talk = await served.talk(options={"mode": "auto"})
        assert await mode_of(talk) == "auto"

    served.run(story())


def test_a_mode_takes_effect_at_once_even_during_a_turn(served: Served) -> None:
    async def story() -> None:
        talk = await served.talk()
        await talk.send("mode ?")
        call = await until_call(talk, "pending-confirmation")
        assert await talk.act("configChanged", config={"mode": "auto"}) is None
        await talk.approve(call)
        assert (await talk.finish()).text == "auto"

    served.run(story())


def test_a_mode_that_the_program_changes_is_shown(served: Served) -> None:
    async def story() -> None:
        talk = await served.talk()
        heard = await talk.say("mode auto")
        assert [action["config"] for action in heard.of("configChanged")] == [{"mode": "auto"}]
        assert talk.state["config"]["values"] == {"mode": "auto"}
        assert await mode_of(talk) == "auto"

    served.run(story())


def test_a_pinned_mode_cannot_be_changed_by_anybody(tmp_path: Path) -> None:
    async def story() -> None:
        async with talking(tmp_path, acting(tmp_path / "home", mode="auto")) as host:
            talk = await Talk.begin(host, "acting")
            assert "config" not in talk.state
            assert await mode_of(talk) == "auto"
            await talk.say("mode ask")
            assert await mode_of(talk) == "auto"

    run(story)


def test_an_unknown_mode_is_reported(tmp_path: Path) -> None:
    async def story() -> None:
        async with talking(tmp_path, acting(tmp_path / "home", mode="wild")) as host:
            talk = await Talk.begin(host, "acting")
            heard = await talk.say("mode")
            assert (
                "could not change its mode: Invalid params (no mode wild)" in heard.ending["error"]["message"]
            )

    run(story)


NEW: Any = [
    {
        "id": "llm",
        "name": "Model",
        "category": "model",
        "type": "select",
        "currentValue": "m2",
        "options": [
            {"group": "g", "name": "G", "options": [{"value": "m1", "name": "One"}, {"value": "m2"}]},
        ],
    },
    {
        "id": "how",
        "name": "How",
        "category": "mode",
        "type": "select",
        "currentValue": "x",
        "options": [{"value": "x"}],
    },
    {"id": "loud", "name": "Loud", "type": "boolean", "currentValue": True},
    {
        "id": "level",
        "name": "Level",
        "type": "select",
        "currentValue": "a",
        "options": [{"value": "a"}, {"value": "b"}],
    },
    {"id": "broken", "type": "slider"},
    "nonsense",
]


def test_config_options_replace_modes_and_models() -> None:
    settings = SessionSettings()
    old = {"availableModes": [{"id": "ask", "name": "Ask"}], "currentModeId": "ask"}
    settings.load({"modes": old, "configOptions": NEW})
    assert settings.values() == {MODE: "x", MODEL: "m2", "loud": "true", "level": "a"}
    assert [model.id for model in settings.models()] == ["m2", "m1"]
    assert [option.name for option in settings.options()] == [MODE, "loud", "level"]
    assert [option.name for option in settings.options([MODE])] == ["loud", "level"]
    known = settings.known
    assert known[MODEL].request("m1") == ("session/set_config_option", {"configId": "llm", "value": "m1"})
    flag = {"configId": "loud", "type": "boolean", "value": False}
    assert known["loud"].request("false") == ("session/set_config_option", flag)


def test_modes_and_models_are_understood() -> None:
    settings = SessionSettings()
    models = {"availableModels": [{"modelId": "m1", "name": "One"}], "currentModelId": "m1"}
    modes = {"availableModes": [{"id": "ask", "name": "Ask"}], "currentModeId": "ask"}
    settings.load({"models": models, "modes": modes})
    assert settings.known[MODEL].request("m1") == ("session/set_model", {"modelId": "m1"})
    assert settings.known[MODE].request("ask") == ("session/set_mode", {"modeId": "ask"})
    settings.on_update({"sessionUpdate": "current_mode_update", "currentModeId": "other"})
    assert settings.values()[MODE] == "other"


@pytest.mark.parametrize("answer", [None, [], {}, {"modes": 5, "models": [], "configOptions": {"a": 1}}])
def test_malformed_settings_are_ignored(answer: Any) -> None:
    settings = SessionSettings()
    settings.load(answer)
    assert settings.values() == {}


def test_mcp_servers_and_variables_are_passed_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OUR_TOKEN", "t0ken")
    monkeypatch.setenv("OUR_SECRET", "nobody's business")
    server: Any = {"name": "files", "command": "mcp-files -v", "env": {"TOKEN": "$OUR_TOKEN"}}
    other: Any = {"name": "far", "url": "https://far.example/mcp"}

    async def story() -> None:
        agent = acting(tmp_path / "home", env={"WHO": "<$OUR_TOKEN> $$"}, mcp_servers=[server, other])
        async with talking(tmp_path, agent) as host:
            talk = await Talk.begin(host, "acting")
            # The other one is left out: this program does not support MCP over HTTP.
            assert (await talk.say("servers")).text == (
                '[{"name": "files", "command": "mcp-files", "args": ["-v"], '
                '"env": [{"name": "TOKEN", "value": "t0ken"}]}]'
            )
            assert (await talk.say("env WHO")).text == "<t0ken> $"
            assert (await talk.say("env OUR_SECRET")).text == "None"

    run(story)


def test_a_variable_that_is_not_set_is_named(tmp_path: Path) -> None:
    async def story() -> None:
        async with talking(tmp_path, acting(tmp_path / "home", env={"KEY": "$NO_SUCH_VARIABLE"})) as host:
            talk = await Talk.begin(host, "acting")
            heard = await talk.say("mode")
            sentence = "the variable NO_SUCH_VARIABLE is not set where this host runs, but KEY needs it"
            assert heard.ending["error"]["message"] == sentence

    run(story)


def test_a_program_that_wants_a_login_says_what_to_do(tmp_path: Path) -> None:
    async def story() -> None:
        async with talking(tmp_path, acting(tmp_path / "home", "--locked")) as host:
            talk = await Talk.begin(host, "acting")
            heard = await talk.say("mode")
            assert heard.ending["error"]["message"] == (
                "acting needs to be logged in: Authentication required. Log in with the program itself, as "
                "the user that runs this host, or pass it a key in its environment (`env`, --acp-env); then "
                "try again."
            )
            assert parts(talk.state["turns"][-1]) == []

    run(story)
