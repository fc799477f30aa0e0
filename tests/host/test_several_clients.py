"""Several clients that are active in one session: whose tools are offered, and who runs which call."""

import itertools
from pathlib import Path
from typing import Any

import pytest

from agenthost.core import actions
from agenthost.host.access.identity import Identity
from agenthost.host.authoring.steps import Call
from agenthost.host.authoring.tool import tool
from agenthost.host.authoring.turn import Turn
from agenthost.host.limits import Limits
from agenthost.host.log.subscriptions import LogItem
from hosting import run, user_message
from legacy_view import current_state
from talking import Talk, talking
from turning import made, pass_time, tell, transcript, until

BRIEF = Limits(client_grace_seconds=0.05)
GONE = "the client that runs this tool has left"

_numbers = itertools.count(1)


async def calls_what_is_said(turn: Turn) -> None:
    results = await turn.calls(*(Call(name, {}) for name in turn.text.split()))
    await turn.say("; ".join(results))


async def names_its_tools(turn: Turn) -> None:
    await turn.say(" ".join(sorted(definition["name"] for definition in turn.tools)))


class Member:
    """A client of AHP 1.0 that takes part in a session."""

    def __init__(self, talk: Talk, name: str) -> None:
        self.talk = talk
        self.name = name
        self.identity = Identity(name)
        self._clients = talk.host.parts.clients
        self._clients.joined(self.identity)

    async def dispatch(self, action: Any) -> LogItem | None:
        session = self.talk.session
        channel = session.chat_uri if action["type"].startswith("chat/") else session.uri
        return await self.talk.host.client(self.identity).dispatch(next(_numbers), channel, action)

    async def bring(self, *tools: str) -> LogItem | None:
        """Become active with these tools."""
        definitions: Any = [{"name": name, "inputSchema": {"type": "object"}} for name in tools]
        return await self.dispatch(actions.active_client_set({"clientId": self.name, "tools": definitions}))

    async def end(self, name: str | None = None) -> LogItem | None:
        return await self.dispatch(actions.active_client_removed(name or self.name))

    def leave(self) -> None:
        self._clients.left(self.identity)

    async def begin(self, text: str) -> None:
        """Start a turn."""
        self.talk.turn_id = f"t{next(_numbers)}"
        now = self.talk.session.now()
        started = actions.turn_started(self.talk.turn_id, user_message(text), now)
        assert await self.dispatch(started) is None

    async def complete(self, call_id: str) -> LogItem | None:
        """Return the result of a call."""
        content: Any = [{"type": "text", "text": f"{self.name} did it"}]
        turn_id = self.talk.turn_id or ""
        result: Any = {"success": True, "pastTenseMessage": "Done", "content": content}
        return await self.dispatch(actions.tool_call_complete(turn_id, call_id, result))


async def wait_calls(talk: Talk, count: int) -> dict[str, tuple[str, str]]:
    """Wait until so many calls wait for clients; returns the client and the id of each, by the tool."""
    await until(talk, lambda _: len(waiting_calls(talk)) == count)
    return waiting_calls(talk)


def waiting_calls(talk: Talk) -> dict[str, tuple[str, str]]:
    """Return the client and the id of each call that waits for one, by the tool."""
    return {
        one["toolCall"]["toolName"]: (one["clientId"], one["toolCall"]["toolCallId"])
        for one in talk.session.shown_state.get("inputNeeded", [])
        if one["kind"] == "toolClientExecution"
    }


def active_ids(talk: Talk) -> list[str]:
    return [one["clientId"] for one in talk.session.state["activeClients"]]


def test_the_tools_of_all_active_clients_are_offered_and_each_runs_its_own(tmp_path: Path) -> None:
    async def story(talk: Talk) -> None:
        ann, bob = Member(talk, "ann"), Member(talk, "bob")
        assert await ann.bring("paint") is None
        assert await bob.bring("print") is None
        assert active_ids(talk) == ["ann", "bob"]
        await ann.begin("print paint")
        calls = await wait_calls(talk, 2)
        assert {name: client for name, (client, _) in calls.items()} == {"paint": "ann", "print": "bob"}
        for member, name in ((ann, "print"), (bob, "paint")):
            refusal = await member.complete(calls[name][1])
            assert "is run by client" in str(refusal and refusal.reason)
        assert await bob.complete(calls["print"][1]) is None
        assert waiting_calls(talk).keys() <= {"paint", "print"}
        assert await ann.complete(calls["paint"][1]) is None
        await talk.finish()
        assert talk.answer == "bob did it; ann did it"
        assert waiting_calls(talk) == {}
        transcript(talk.session)

    tell(tmp_path, calls_what_is_said, story)


def test_what_is_offered_follows_who_is_active(tmp_path: Path) -> None:
    async def story(talk: Talk) -> None:
        ann, bob = Member(talk, "ann"), Member(talk, "bob")
        offered = []
        for member, tools in ((ann, "paint both"), (bob, "print both"), (ann, "draw"), (bob, ""), (ann, "")):
            assert await (member.bring(*tools.split()) if tools else member.end()) is None
            await ann.begin("Hi")
            await talk.finish()
            offered.append(talk.answer)
        assert offered == ["both own paint", "both own paint print", "both draw own print", "draw own", "own"]

    own = tool(name="own")(lambda: None)
    tell(tmp_path, names_its_tools, story, tools=[own])


@pytest.mark.parametrize(("speaker", "runner"), [("ann", "ann"), ("bob", "bob"), ("cid", "ann")])
def test_a_tool_that_several_bring_is_run_by_who_began_the_turn_or_else_by_the_first(
    tmp_path: Path, speaker: str, runner: str
) -> None:
    async def story(talk: Talk) -> None:
        members = {name: Member(talk, name) for name in ("ann", "bob", "cid")}
        for name in ("ann", "bob"):
            assert await members[name].bring("paint") is None
        await members[speaker].begin("paint")
        client, call_id = (await wait_calls(talk, 1))["paint"]
        assert client == runner
        assert await members[runner].complete(call_id) is None
        await talk.finish()
        assert talk.answer == f"{runner} did it"

    tell(tmp_path, calls_what_is_said, story)


def test_a_client_takes_part_only_for_itself(tmp_path: Path) -> None:
    async def story(talk: Talk) -> None:
        ann, bob = Member(talk, "ann"), Member(talk, "bob")
        await ann.bring("paint")
        for refusal in (
            await bob.end("ann"),
            await bob.end(),
            await bob.dispatch(actions.active_client_set({"clientId": "ann", "tools": []})),
        ):
            assert refusal is not None
        assert active_ids(talk) == ["ann"]
        assert await bob.bring("print", "print") is not None
        assert await bob.bring("own") is not None
        assert active_ids(talk) == ["ann"]

    tell(tmp_path, names_its_tools, story, tools=[tool(name="own")(lambda: None)])


def test_a_client_that_leaves_takes_its_own_tools_and_calls_along(tmp_path: Path) -> None:
    async def story(talk: Talk) -> None:
        ann, bob = Member(talk, "ann"), Member(talk, "bob")
        await ann.bring("paint")
        await bob.bring("print")
        await ann.begin("paint print")
        calls = await wait_calls(talk, 2)
        bob.leave()
        assert active_ids(talk) == ["ann"]
        await until(talk, lambda _: "print" not in waiting_calls(talk))
        assert waiting_calls(talk) == {"paint": calls["paint"]}
        assert await ann.complete(calls["paint"][1]) is None
        await talk.finish()
        assert talk.answer == f"ann did it; {GONE}"

    tell(tmp_path, calls_what_is_said, story, limits=BRIEF)


def test_after_a_restart_those_that_come_back_stay_and_the_others_have_left(tmp_path: Path) -> None:
    async def story() -> None:
        agent = made(calls_what_is_said)
        async with talking(tmp_path, agent) as host:
            talk = await Talk.begin(host)
            ann, bob = Member(talk, "ann"), Member(talk, "bob")
            await ann.bring("paint")
            await bob.bring("print")
            await ann.begin("paint print")
            calls = await wait_calls(talk, 2)
            turn_id = talk.turn_id
        async with talking(tmp_path, agent, limits=BRIEF) as host:
            host.parts.clients.joined(Identity("ann"))
            talk = await Talk.join(host, talk.uri)
            talk.turn_id = turn_id
            ann = Member(talk, "ann")
            assert active_ids(talk) == ["ann"]
            await until(talk, lambda _: waiting_calls(talk) == {"paint": calls["paint"]})
            await pass_time(0.1)
            assert await ann.complete(calls["paint"][1]) is None
            await until(talk, lambda state: state["turns"])
            assert talk.answer == f"ann did it; {GONE}"

    run(story)


def test_an_older_client_sees_one_active_client_and_cannot_join_it(tmp_path: Path) -> None:
    async def story(talk: Talk) -> None:
        ann, bob = Member(talk, "ann"), Member(talk, "bob")
        await bob.bring()
        await ann.bring("paint")
        assert (
            current_state(talk.session)["activeClient"]["clientId"] == "ann"
        )  # who brings tools has the role
        active = {"clientId": "me", "tools": []}
        refusal = await talk.act("activeClientChanged", activeClient=active)
        assert "ann" in str(refusal and refusal.reason)
        await ann.end()
        assert current_state(talk.session)["activeClient"]["clientId"] == "bob"
        await bob.end()
        assert "activeClient" not in current_state(talk.session)
        talk.host.parts.clients.joined(Identity("me"))
        assert await talk.act("activeClientChanged", activeClient=active) is None
        assert active_ids(talk) == ["me"]

    tell(tmp_path, names_its_tools, story)
