"""Programs that speak ACP, seen by real clients of both protocols on real sockets."""

import json
from typing import Any

import pytest

from aap_talking import MODES, Speaker, assistant, permission, result, used, user
from acp_acting import Served
from agenthost.client.ahp import AhpClient, TurnFailed, answer_text
from hosting import run


def app_of(served: Served) -> Speaker:
    return Speaker(served.url, 3)


@pytest.mark.parametrize("mode", MODES)
def test_a_permission_over_aap_is_asked_like_that_of_a_server_tool(served: Served, mode: str) -> None:
    app, name = app_of(served), f"aap-{mode}.txt"
    reply = app.begin(f"edit {name}", {"name": "acting"}, stream=mode)
    assert reply.stop == "tool_use"
    call_id = reply.calls["edit"]
    path = str(served.workspace / name)
    given = {"title": f"Edit {name}", "changes": [{"path": path, "newText": "new\n"}]}
    asking = [user(f"edit {name}"), assistant([used(call_id, "edit", **given)])]
    assert app.history(reply.session) == asking
    rest = app.turn(reply.session, permission(call_id), stream=mode)
    assert (rest.stop, rest.text, list(rest.results)) == ("end_turn", "You chose y1.", [call_id])
    assert (served.workspace / name).read_text() == "new\n"
    assert app.history(reply.session) == [*asking, result(call_id, ""), assistant("You chose y1.")]


@pytest.mark.parametrize("mode", MODES)
def test_a_denial_over_aap_is_a_plain_no(served: Served, mode: str) -> None:
    app = app_of(served)
    reply = app.begin("edit aap-denied.txt", {"name": "acting"}, stream=mode)
    rest = app.turn(reply.session, permission(reply.calls["edit"], granted=False), stream=mode)
    assert (rest.stop, rest.text) == ("end_turn", "You chose n1.")
    assert app.history(reply.session)[2] == result(reply.calls["edit"], "Tool call denied")


@pytest.mark.parametrize("mode", MODES)
def test_simultaneous_permission_requests_are_asked_one_by_one(served: Served, mode: str) -> None:
    app = app_of(served)
    reply = app.begin("both", {"name": "acting"}, stream=mode)
    for _ in range(2):
        assert reply.stop == "tool_use"
        session = reply.session
        said = [one for one in app.history(session) if one["role"] == "assistant"]
        (asked,) = [one for one in said[-1]["content"] if one["type"] == "tool_use"]
        reply = app.turn(session, permission(asked["toolCallId"]), stream=mode)
        reply.session = session
    assert (reply.stop, reply.text) == ("end_turn", "Meanwhile. You chose y1 y1.")


def test_its_modes_and_images_are_declared_over_aap(served: Served) -> None:
    app = app_of(served)
    app.make({"name": "acting"})
    (agent,) = app.get("/aap/v3/meta")["agents"]
    (option,) = agent["options"]
    assert (option["name"], option["options"], option["default"]) == ("mode", ["ask", "auto"], "ask")
    assert agent["capabilities"]["image"] == {"data": {}}
    reply = app.begin("mode", {"name": "acting", "options": {"mode": "auto"}})
    assert reply.text == "auto"
    picture = {"type": "image", "url": "data:image/png;base64,aGVsbG8="}
    reply = app.begin([{"type": "text", "text": "blocks"}, picture], {"name": "acting"})
    assert json.loads(reply.text)[1] == {"type": "image", "data": "aGVsbG8=", "mimeType": "image/png"}


def test_the_program_is_given_the_history_that_an_application_brings(served: Served) -> None:
    seed = [user("My name is Ada."), assistant("Hello Ada.")]
    reply = app_of(served).begin("blocks", {"name": "acting"}, seed=seed)
    first, _ = json.loads(reply.text)
    assert "User: My name is Ada.\n\nAssistant: Hello Ada." in first["text"]


def test_two_clients_over_ahp_see_the_same_and_the_first_answer_counts(served: Served) -> None:
    async def story() -> None:
        async with AhpClient(f"{served.url}/ahp") as one, AhpClient(f"{served.url}/ahp") as two:
            mine = await one.create("acting")
            theirs = await two.session(mine.uri)
            saying = mine.say("edit ahp.txt")
            await theirs.until(lambda _: theirs.open_calls)
            call: Any = theirs.open_calls[0]
            assert call["edits"]["items"][0]["after"]["uri"].endswith("/ahp.txt")
            await theirs.approve(call, option="yy")
            turn = await saying.turn()
            assert answer_text(turn) == "You chose yy."
            state = await theirs.until(lambda state: state.chat["turns"])
            assert answer_text(state.chat["turns"][-1]) == "You chose yy."

    run(story)


def test_its_commands_are_completed_over_ahp(served: Served) -> None:
    async def story() -> None:
        async with AhpClient(f"{served.url}/ahp") as client:
            session = await client.create("acting")
            (item,) = await session.completions("/s")
            assert item["insertText"] == "/say"

    run(story)


def test_a_turn_is_cancelled_over_ahp(served: Served) -> None:
    async def story() -> None:
        async with AhpClient(f"{served.url}/ahp") as client:
            session = await client.create("acting")
            saying = session.say("hang")
            await session.until(lambda state: state.chat.get("activeTurn", {}).get("responseParts"))
            await session.cancel()
            turn = await saying.turn()
            assert turn["state"] == "cancelled"
            assert await session.ask("say hello") == "hello "

    run(story)


def test_an_error_is_reported_over_ahp(served: Served) -> None:
    async def story() -> None:
        async with AhpClient(f"{served.url}/ahp") as client:
            session = await client.create("acting")
            with pytest.raises(TurnFailed, match="acting ended with exit code 3; the next message starts it"):
                await session.ask("die")
            assert await session.ask("say hello") == "hello "

    run(story)
