"""Tools that clients bring and run, and clients that leave, come back, or do not."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from agenthost.host.access.identity import Identity
from agenthost.host.authoring.agent import Answer
from agenthost.host.authoring.steps import Call, CallInput
from agenthost.host.authoring.tool import tool
from agenthost.host.authoring.turn import Turn
from agenthost.host.limits import Limits
from hosting import run
from talking import Talk, talking
from turning import (
    assistant,
    calls_in,
    made,
    pass_time,
    tell,
    transcript,
    until,
    until_call,
    use,
)

PAINT = {"name": "paint", "title": "Paint", "inputSchema": {"type": "object"}}
BROUGHT: dict[str, Any] = {"active_client": {"clientId": "me", "tools": [PAINT]}}
BRIEF = Limits(client_grace_seconds=0.05)
GONE = "the client that runs this tool has left"


async def handler(turn: Turn) -> None:
    (painted,) = await turn.calls(Call("paint", {"what": "sky"}))
    await turn.say(painted)


async def step(turn: Turn) -> AsyncIterator[Any]:
    if turn.transcript[-1]["role"] == "tool":
        yield str(turn.transcript[-1]["content"])
    else:
        yield Call("paint", {"what": "sky"})


def active_ids(talk: Talk) -> list[str]:
    """Return the ids of the clients that are active in the session."""
    return [one["clientId"] for one in talk.session.state["activeClients"]]


BOTH = pytest.mark.parametrize("answer", [handler, step])


@BOTH
def test_a_client_runs_its_own_tool_and_shows_how_it_goes(tmp_path: Path, answer: Answer) -> None:
    async def story(talk: Talk) -> None:
        talk.host.parts.clients.joined(Identity("me"))
        await talk.send("Hi")
        call = await until_call(talk, "running")
        assert (call["toolClientId"], call["displayName"], call["confirmed"]) == ("me", "Paint", "not-needed")
        assert call["toolInput"] == '{"what":"sky"}'
        ids = {"turnId": call["turnId"], "toolCallId": call["toolCallId"]}
        half = [{"type": "text", "text": "half"}]
        assert await talk.act("toolCallContentChanged", **ids, content=half) is None
        stranger = await Talk.join(talk.host, talk.uri, "stranger")
        assert await stranger.complete(call, "mine!") is not None
        assert await talk.complete(call, "a blue sky") is None
        await talk.finish()
        assert talk.answer == "a blue sky"
        said = [message["role"] for message in transcript(talk.session)]
        assert said == ["user", "assistant", "tool", "assistant"]

    tell(tmp_path, answer, story, start=BROUGHT)


@BOTH
def test_a_client_may_fail(tmp_path: Path, answer: Answer) -> None:
    async def story(talk: Talk) -> None:
        await talk.send("Hi")
        await talk.complete(await until_call(talk, "running"), "no paint left", success=False)
        await talk.finish()
        assert talk.answer == "The tool failed.\nno paint left"
        assert calls_in(talk.state["turns"][0])[0]["success"] is False

    tell(tmp_path, answer, story, start=BROUGHT)


@BOTH
def test_a_client_that_denies_its_own_running_call_fails_it(tmp_path: Path, answer: Answer) -> None:
    async def story(talk: Talk) -> None:
        await talk.send("Hi")
        call = await until_call(talk, "running")
        other = await Talk.join(talk.host, talk.uri, "other")
        assert await other.deny(call) is not None
        assert "activeTurn" in talk.state
        assert await talk.deny(call) is not None
        await talk.finish()
        assert talk.answer == "the client does not run this tool"

    tell(tmp_path, answer, story, start=BROUGHT)


@BOTH
def test_a_client_that_leaves_is_no_longer_active_and_its_calls_fail_after_a_while(
    tmp_path: Path, answer: Answer
) -> None:
    async def story(talk: Talk) -> None:
        clients = talk.host.parts.clients
        clients.joined(Identity("me"))
        clients.joined(Identity("me"))
        await talk.send("Hi")
        await until_call(talk, "running")
        clients.left(Identity("me"))
        assert active_ids(talk) == ["me"]
        clients.left(Identity("me"))
        assert active_ids(talk) == []
        await until_call(talk, "running")
        await talk.finish()
        assert talk.answer == GONE
        assert calls_in(talk.state["turns"][0])[0]["error"]["code"] == "client-gone"
        await talk.say("Again")
        assert talk.answer == "there is no tool 'paint' in this session"

    tell(tmp_path, answer, story, start=BROUGHT, limits=BRIEF)


@BOTH
def test_a_client_that_comes_back_in_time_finds_its_call(tmp_path: Path, answer: Answer) -> None:
    async def story(talk: Talk) -> None:
        clients = talk.host.parts.clients
        clients.joined(Identity("me"))
        await talk.send("Hi")
        call = await until_call(talk, "running")
        clients.left(Identity("me"))
        clients.joined(Identity("me"))
        await pass_time(0.1)  # longer than the grace
        assert await talk.complete(call, "a blue sky") is None
        await talk.finish()
        assert talk.answer == "a blue sky"

    tell(tmp_path, answer, story, start=BROUGHT, limits=BRIEF)


def test_a_call_of_a_gone_client_that_still_streams_fails_once_it_is_complete(tmp_path: Path) -> None:
    go_on = asyncio.Event()

    async def slow(turn: Turn) -> AsyncIterator[Any]:
        if turn.transcript[-1]["role"] == "tool":
            yield str(turn.transcript[-1]["content"])
            return
        yield "Look: "
        yield CallInput("x", "paint", "{")
        await go_on.wait()
        yield Call("paint", {"what": "sky"}, "x")

    async def story(talk: Talk) -> None:
        talk.host.parts.clients.joined(Identity("me"))
        await talk.send("Hi")
        await talk.hear_one("toolCallDelta")
        talk.host.parts.clients.left(Identity("me"))
        await pass_time(0.1)
        go_on.set()
        await talk.finish()
        assert talk.answer == f"Look: {GONE}"
        assert transcript(talk.session)[1] == assistant("Look: ", use("x", "paint", what="sky"))

    tell(tmp_path, slow, story, start=BROUGHT, limits=BRIEF)


@BOTH
def test_a_client_that_is_not_back_after_a_restart_has_left(tmp_path: Path, answer: Answer) -> None:
    async def story() -> None:
        async with talking(tmp_path, made(answer)) as host:
            host.parts.clients.joined(Identity("me"))
            talk = await Talk.begin(host, **BROUGHT)
            await talk.send("Hi")
            await until_call(talk, "running")
        async with talking(tmp_path, made(answer), limits=BRIEF) as host:
            talk = await Talk.join(host, talk.uri)
            assert active_ids(talk) == []
            await until(talk, lambda state: state["turns"])
            assert talk.answer == GONE
            transcript(talk.session)

    run(story)


def test_the_tool_of_the_host_that_ran_is_not_run_again_because_the_client_is_not_back(
    tmp_path: Path,
) -> None:
    runs: list[int] = []
    begun = asyncio.Event()

    async def work() -> None:
        runs.append(1)
        begun.set()
        await asyncio.Event().wait()

    async def works(turn: Turn) -> None:
        (done,) = await turn.calls(Call("work"))
        await turn.say(done)

    async def story() -> None:
        agent = made(works, tools=[work])
        async with talking(tmp_path, agent) as host:
            host.parts.clients.joined(Identity("me"))
            talk = await Talk.begin(host, tools={"work": True}, **BROUGHT)
            await talk.send("Hi")
            await begun.wait()
        async with talking(tmp_path, agent, limits=BRIEF) as host:
            talk = await Talk.join(host, talk.uri)
            await until(talk, lambda state: state["turns"])
            assert "whether it did its work is unknown" in talk.answer
            assert len(runs) == 1

    run(story)


@BOTH
def test_an_application_that_is_never_connected_never_leaves(tmp_path: Path, answer: Answer) -> None:
    async def story() -> None:
        async with talking(tmp_path, made(answer)) as host:
            talk = await Talk.begin(host, **BROUGHT, private={"app": "me"})
            await talk.send("Hi")
            await until_call(talk, "running")
        async with talking(tmp_path, made(answer), limits=Limits(client_grace_seconds=0)) as host:
            talk = await Talk.join(host, talk.uri)
            call = await until_call(talk, "running")
            host.parts.clients.left(Identity("me"))
            await pass_time(0.05)
            assert active_ids(talk) == ["me"]
            await talk.complete(call, "a blue sky")
            await until(talk, lambda state: state["turns"])
            assert talk.answer == "a blue sky"

    run(story)


def test_an_agent_may_refuse_tools_of_clients(tmp_path: Path) -> None:
    async def story(talk: Talk) -> None:
        await talk.say("Hi")
        assert talk.answer == "there is no tool 'paint' in this session"

    tell(tmp_path, handler, story, start=BROUGHT, client_tools=False)


def test_the_tools_that_are_offered_are_those_switched_on_and_those_of_the_client(tmp_path: Path) -> None:
    async def names(turn: Turn) -> None:
        await turn.say(" ".join(definition["name"] for definition in turn.tools))

    async def story(talk: Talk) -> None:
        await talk.say("Hi")
        assert talk.answer == "paint one inner"
        talk.host.client(Identity("me")).act(talk.session, [], tools={"two": False})
        await talk.act("activeClientChanged", activeClient=None)
        await talk.say("Hi")
        assert talk.answer == "two inner"

    tools = [tool(name=name, exposed=name != "inner")(lambda: None) for name in ("one", "two", "inner")]
    tell(tmp_path, names, story, tools=tools, start={"tools": {"one": True}, **BROUGHT})


def test_a_client_of_another_owner_with_the_same_id_keeps_no_call_open(tmp_path: Path) -> None:
    async def story(talk: Talk) -> None:
        clients = talk.host.parts.clients
        anns, bobs = Identity("me", "ann"), Identity("me", "bob")
        clients.joined(anns)
        clients.joined(bobs)
        await talk.send("Hi")
        await until_call(talk, "running")
        clients.left(bobs)
        assert active_ids(talk) == ["me"]
        clients.joined(bobs)
        clients.left(anns)
        assert active_ids(talk) == []
        await talk.finish()
        assert talk.answer == GONE

    tell(tmp_path, handler, story, start={**BROUGHT, "owner": "ann"}, limits=BRIEF)


def test_a_client_without_an_owner_is_a_guest_in_the_session_of_one(tmp_path: Path) -> None:
    async def story(talk: Talk) -> None:
        clients, guest = talk.host.parts.clients, Identity("me")
        clients.joined(guest)
        active = {"clientId": "me", "displayName": "Guest", "tools": [PAINT]}
        assert await talk.act("activeClientChanged", activeClient=active) is None
        assert talk.session.private["guests"] == ["me"]
        await talk.send("Hi")
        await until_call(talk, "running")
        clients.joined(Identity("me", "ann"))
        clients.left(Identity("me", "ann"))
        assert active_ids(talk) == ["me"]
        clients.left(guest)
        await talk.finish()
        assert talk.answer == GONE

    tell(tmp_path, handler, story, start={"owner": "ann"}, limits=BRIEF)
