"""How a session is set up, and how a turn changes that for good: options, secrets, tools, the model."""

import itertools
import json
from typing import Any

import pytest

from aap_here import Here
from aap_talking import Speaker, permission, result
from agenthost.core.session_meta import model_of
from agenthost.edges.aap.agents import SECRET_MASK
from agenthost.host.access.identity import Identity
from legacy_view import dispatch
from rules import rule

_numbers = itertools.count(1)


def options(app: Speaker, session: str) -> Any:
    return app.show(session)["agent"]["options"]


def act(here: Here, session: str, kind: str, **fields: Any) -> Any:
    """Apply an action of a client of the other protocol, and wait until it is durable."""
    action = {"type": f"session/{kind}", "session": here.uri_of(session), **fields}
    refusal = here.run(dispatch(here.site.host.client(Identity("changer")), next(_numbers), action))
    here.run(here.site.host.parts.engine.journal.wait())
    return refusal


@rule("O1", "O3", "O4", "O5")
def test_all_settings_of_one_turn_stay(app: Speaker) -> None:
    session = app.begin("Hello").session
    changed = {"tools": [{"name": "add"}], "options": {"style": "loud", "token": "of ours"}}
    assert app.turn(session, "Hello", agent=changed, tools=[app.tool("weather")]).text == "YOU SAID: HELLO"
    shown = app.show(session)
    assert shown["agent"]["tools"] == [{"name": "add", "trust": False}]
    assert {name: shown["agent"]["options"][name] for name in ("style", "token")} == {
        "style": "loud",
        "token": SECRET_MASK,
    }
    assert [tool["name"] for tool in shown["tools"]] == ["weather"]


@rule("O1")
def test_options_of_a_turn_are_merged_by_key_and_stay(app: Speaker) -> None:
    reply = app.begin("Hello", {"options": {"greeting": "Ahoy!", "style": "loud"}})
    assert reply.text == "AHOY! YOU SAID: HELLO"
    assert app.turn(reply.session, "Hello", agent={"options": {"style": "plain"}}).text == (
        "Ahoy! You said: Hello"
    )
    assert app.turn(reply.session, "Hello").text == "Ahoy! You said: Hello"
    shown = {"style": "plain", "greeting": "Ahoy!", "token": "", "model": "swift"}
    assert options(app, reply.session) == shown


@rule("O1")
def test_an_option_that_is_left_out_has_its_default_and_the_default_unsets_it(app: Speaker) -> None:
    reply = app.begin("Hello", {"options": {"greeting": "Ahoy!"}})
    assert options(app, reply.session)["style"] == "plain"
    assert app.turn(reply.session, "Hello", agent={"options": {"greeting": ""}}).text == "You said: Hello"
    assert options(app, reply.session)["greeting"] == ""


@rule("O2", "X4")
@pytest.mark.parametrize(
    ("name", "value", "path"),
    [
        ("style", "shy", "$.agent.options.style"),
        ("model", "gpt", "$.agent.options.model"),
        ("nothing", "a", "$.agent.options.nothing"),
        ("greeting", 5, "$.agent.options.greeting"),
        ("greeting", None, "$.agent.options.greeting"),
    ],
)
def test_an_unknown_option_or_an_invalid_value_is_refused(
    app: Speaker, name: str, value: Any, path: str
) -> None:
    session = app.begin("Hello").session
    before = (app.show(session), app.history(session), app.get(f"{app.base}/sessions"))
    agent = {"options": {"greeting": "Ahoy!", name: value}}
    for refused in (app.turn(session, "Hello", agent=agent), app.make(agent)):
        assert (refused.status, refused.error["path"]) == (422, path)
    assert (app.show(session), app.history(session), app.get(f"{app.base}/sessions")) == before


@rule("O3")
def test_a_secret_is_never_shown_again(here: Here, app: Speaker) -> None:
    reply = app.begin("Hello", {"options": {"token": "tok-12345"}})
    session = reply.session
    assert options(app, session)["token"] == SECRET_MASK

    def kept() -> str | None:
        host = here.site.host

        async def read() -> Any:
            found = await host.parts.engine.sessions.named(session)
            return host.parts._option_values(host.agents["demo"], found)["token"]

        return here.run(read())  # type: ignore[no-any-return]

    assert kept() == "tok-12345"
    assert (
        app.turn(session, "Hello", agent={"options": {"token": SECRET_MASK, "style": "loud"}}).status == 200
    )
    assert kept() == "tok-12345"
    app.turn(session, "Hello", agent={"options": {"token": "another"}})
    assert (kept(), options(app, session)["token"]) == ("another", SECRET_MASK)
    app.turn(session, "Hello", agent={"options": {"token": ""}})
    assert (kept(), options(app, session)["token"]) == ("", "")
    assert app.turn(session, "Hello", agent={"options": options(app, session)}).status == 200
    assert "tok-12345" not in json.dumps([app.show(session), app.get(f"{app.base}/sessions")])


@rule("O3", "O7")
def test_an_unset_secret_is_shown_as_empty_or_as_the_mask_of_its_default(app: Speaker) -> None:
    session = app.begin("Hello", {"name": "keeper"}).session
    shown = {"empty": "", "given": SECRET_MASK, "fixed": ""}
    assert options(app, session) == shown
    assert app.turn(session, "Hello", agent={"options": shown}).text == "given: by-default, fixed: "
    assert options(app, session) == shown
    refused = app.turn(session, "Hello", agent={"options": {"fixed": "late"}})
    assert (refused.status, refused.error["path"]) == (422, "$.agent.options.fixed")
    assert "late" not in refused.error["message"]


@rule("O3")
def test_the_default_of_a_secret_is_masked_where_agents_are_described(app: Speaker) -> None:
    meta = app.get(f"{app.base}/meta")
    assert "by-default" not in json.dumps(meta)
    (keeper,) = [agent for agent in meta["agents"] if agent["name"] == "keeper"]
    assert {option["name"]: option["default"] for option in keeper["options"]} == {
        "empty": "",
        "given": SECRET_MASK,
        "fixed": "",
    }


@rule("O4")
def test_tools_of_the_application_are_replaced_by_those_of_a_turn_and_stay(app: Speaker) -> None:
    call = '/call weather {"city": "Rome"} && map {"city": "Rome"}'
    reply = app.begin("Hello", tools=[app.tool("weather")])
    session = reply.session
    assert app.turn(session, "Hello", tools=[app.tool("map")]).status == 200
    assert app.show(session)["tools"] == [app.tool("map")]
    reply = app.turn(session, call)
    assert (reply.stop, list(reply.results)) == ("tool_use", [reply.calls["weather"]])
    assert app.turn(session, result(reply.calls["map"], "a map"), tools=[]).stop == "end_turn"
    assert app.show(session).get("tools") == ([] if app.number == 1 else None)
    assert app.turn(session, call).stop == "end_turn"


@rule("O5")
def test_tools_of_the_agent_are_replaced_by_those_of_a_turn_and_stay(app: Speaker) -> None:
    call = '/call add {"a": 1, "b": 2}'
    session = app.begin("Hello", {"tools": [{"name": "add", "trust": True}]}).session
    assert app.turn(session, call).text == "add -> 3"
    reply = app.turn(session, call, agent={"tools": [{"name": "add"}, {"name": "clock", "trust": False}]})
    assert reply.stop == "tool_use"
    # Granted, but switched off in the same breath: what is off does not run.
    reply = app.turn(session, permission(reply.calls["add"]), agent={"tools": [{"name": "clock"}]})
    assert "there is no tool 'add'" in reply.text
    assert app.show(session)["agent"]["tools"] == [{"name": "clock", "trust": False}]
    assert app.turn(session, call, agent={"options": {}}).stop == "end_turn"
    assert app.turn(session, "Hello", agent={"tools": []}).status == 200
    assert app.show(session)["agent"]["tools"] == []


@rule("O6")
def test_the_option_model_is_the_model_of_the_session(here: Here, app: Speaker) -> None:
    session = app.begin("Hello", {"options": {"model": "forgetful"}}).session

    async def model() -> Any:
        found = await here.site.host.parts.engine.sessions.named(session)
        return model_of(found.state)

    assert here.run(model()) == {"id": "forgetful"}
    assert act(here, session, "modelChanged", model={"id": "steady", "config": {"pause": "short"}}) is None
    assert options(app, session)["model"] == "steady"
    app.turn(session, "Hello", agent={"options": {"model": "steady"}})
    assert here.run(model()) == {"id": "steady", "config": {"pause": "short"}}
    app.turn(session, "Hello", agent={"options": {"model": "swift"}})
    assert here.run(model()) == {"id": "swift"}


@rule("O6")
def test_options_that_the_other_side_changes_are_shown_here(here: Here, app: Speaker) -> None:
    session = app.begin("Hello").session
    assert act(here, session, "configChanged", config={"style": "loud"}) is None
    assert options(app, session)["style"] == "loud"
    assert app.turn(session, "Hello").text == "YOU SAID: HELLO"


@rule("O7")
def test_an_option_that_is_fixed_at_the_start_stays(app: Speaker) -> None:
    session = app.begin("Hello", {"name": "plain", "options": {"fixed": "mine"}}).session
    assert app.turn(session, "Hello", agent={"options": {"fixed": "mine"}}).status == 200
    refused = app.turn(session, "Hello", agent={"options": {"fixed": "other"}})
    assert (refused.status, refused.error["path"]) == (422, "$.agent.options.fixed")
    assert options(app, session) == {"fixed": "mine"}


@rule("O7", "X4")
def test_the_agent_of_a_session_never_changes(app: Speaker) -> None:
    session = app.begin("Hello").session
    for name in ("demo", "stepper"):
        refused = app.turn(session, "Hello", agent={"name": name})
        assert (refused.status, refused.error["path"]) == (422, "$.agent.name")
    assert len(app.history(session)) == 2
