"""The tools of an MCP server as applications and clients see them, over both protocols."""

from pathlib import Path
from typing import Any

from agenthost.tools.mcp import McpServer
from ahp_sites import Place, served
from ahp_speaking import new_uri
from hosting import run
from mcp_calling import caller


async def post(place: Place, path: str, body: Any) -> Any:
    answer = await place.ask(f"/aap/v3{path}", "POST", body)
    assert answer.status in (200, 201), answer.body
    return answer.json


def user(text: str) -> Any:
    return {"messages": [{"role": "user", "content": text}], "stream": "none"}


def test_an_application_switches_them_on_and_trust_is_what_it_says(tmp_path: Path, url: str) -> None:
    async def story() -> None:
        agent = caller(McpServer("every", url=url), name="caller")
        async with served(tmp_path, agent) as place:
            # Created at once: this waits until the server's tools are known.
            tools = [{"name": "every_echo"}, {"name": "every_get-sum", "trust": True}]
            made = await post(place, "/sessions", {"agent": {"name": "caller", "tools": tools}})
            turns = f"/sessions/{made['sessionId']}/turns"
            trusted = await post(place, turns, user('every_get-sum {"a": 1, "b": 2}'))
            assert trusted["stopReason"] == "end_turn"
            assert trusted["messages"][-1]["content"] == "done: The sum of 1 and 2 is 3."
            asked = await post(place, turns, user('every_echo {"message": "hi"}'))
            assert asked["stopReason"] == "tool_use"  # though it says of itself that it does no harm
            call_id = asked["messages"][0]["content"][0]["toolCallId"]
            granted = {"role": "tool_permission", "toolCallId": call_id, "granted": True}
            done = await post(place, turns, {"messages": [granted], "stream": "none"})
            assert done["messages"][-1]["content"] == "done: Echo: hi"
            meta = (await place.ask("/aap/v3/meta")).json
            (shown,) = [one for one in meta["agents"] if one["name"] == "caller"]
            echo = next(one for one in shown["tools"] if one["name"] == "every_echo")
            assert echo["parameters"]["properties"]["message"]["type"] == "string"

    run(story)


def test_a_client_sees_them_with_their_hints_and_answers_what_they_ask(tmp_path: Path, url: str) -> None:
    async def story() -> None:
        agent = caller(McpServer("every", url=url, trust=True), name="caller")
        async with served(tmp_path, agent) as place, place.client() as me:
            await place.host.parts.tool_sources.wait(agent)
            uri = new_uri("caller")
            await me.request("createSession", session=uri)
            state = await me.subscribe(uri)
            echo = next(one for one in state["serverTools"] if one["name"] == "every_echo")
            assert echo["annotations"]["readOnlyHint"] is True
            turn = await me.send(uri, "every_trigger-elicitation-request")
            asked = await me.until(lambda: me.state(uri).get("inputRequests"))
            await me.act(uri, "session/inputCompleted", requestId=asked[0]["id"], response="decline")
            assert "User declined" in str(await me.finish(uri, turn))

    run(story)
