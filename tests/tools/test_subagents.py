"""Tasks that agents give to each other: sessions of their own, seen in the call, gone with their parents."""

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from agenthost import Agent, Call, Host, Limits, Tool, Turn, Usage, tool
from agenthost.tools.subagents import subagent
from hosting import run
from talking import Talk, talking
from turning import calls_in, crash, nothing_lost, until, until_call

Story = Callable[[Host], Awaitable[None]]


async def asks_worker(turn: Turn) -> None:
    """Hand on what the user says."""
    (result,) = await turn.calls(Call("worker", {"task": turn.text}))
    await turn.say(f"worker: {result}")


async def works(turn: Turn) -> None:
    """Do as told."""
    word, _, rest = turn.text.partition(" ")
    if word == "fail":
        raise RuntimeError("no details for strangers")
    if word == "wait":
        await asyncio.Event().wait()
    if word == "ask":
        await turn.ask("Which colour?")
    if word == "call":
        await turn.say("First a call. ")
        (result,) = await turn.calls(Call(rest, {}))
        await turn.say(f"Then: {result}")
        return
    await turn.use(Usage(input_tokens=3, output_tokens=4))
    await turn.say(f"did {turn.text}")


@tool
def touch() -> str:
    """Touch something."""
    return "touched"


def tell(folder: Path, story: Story, *agents: Agent, **limits: Any) -> None:
    """Tell a story with a host of these agents: `boss`, who has a `worker`, if none are given."""
    served = agents or (boss(), worker())
    folder.mkdir(exist_ok=True)

    async def inner() -> None:
        with nothing_lost():
            async with talking(folder, *served, limits=Limits(**limits)) as host:
                await story(host)

    run(inner)


def boss(*tools: Tool, **options: Any) -> Agent:
    return Agent("boss", asks_worker, tools=[subagent("worker", **options), *tools])


def worker(*tools: Any) -> Agent:
    return Agent("worker", works, title="Worker", description="Works.", tools=tools or [touch])


async def child_of(talk: Talk) -> Talk:
    """Join the session that was made for the call of the last turn, once that shows it."""
    block = await until(talk, _block)
    return await Talk.join(talk.host, block["resource"], "another")


def _block(state: Any) -> Any:
    turns = [*state["turns"], state["activeTurn"]] if "activeTurn" in state else state["turns"]
    content = [block for call in calls_in(turns[-1]) for block in call.get("content", [])] if turns else []
    return next((block for block in content if block["type"] == "subagent"), None)


async def sessions(host: Host) -> list[str]:
    rows = await host.parts.engine.sessions.page(owner=None, before=None, limit=100)
    return [row.uri for row in rows]


def test_a_task_is_done_in_a_session_of_its_own_and_its_final_text_is_the_result(tmp_path: Path) -> None:
    async def story(host: Host) -> None:
        folder = host.workspace / "sub"
        folder.mkdir()
        talk = await Talk.begin(host, "boss", owner="ann", working_directory=folder.as_uri())
        heard = await talk.say("sort the mail\nby date")
        assert heard.text == "worker: did sort the mail\nby date"
        (shown,) = heard.of("toolCallContentChanged")
        uri = shown["content"][0]["resource"]
        block = {"type": "subagent", "resource": uri, "title": "sort the mail", "agentName": "Worker"}
        assert shown["content"] == [{**block, "description": "Works."}]
        result = heard.of("toolCallComplete")[0]["result"]
        assert result["content"][0] == shown["content"][0]
        assert result["structuredContent"] == {
            "session": uri,
            "usage": {"inputTokens": 3, "outputTokens": 4},
        }
        assert result["pastTenseMessage"] == "worker answered"
        child = await host.parts.engine.sessions.get(uri)
        assert (child.state["title"], child.state["provider"]) == ("sort the mail", "worker")
        assert (child.row.owner, child.state["workingDirectories"]) == ("ann", [folder.as_uri()])
        assert await sessions(host) == [uri, talk.uri]

    tell(tmp_path, story)


def test_the_text_after_the_last_call_is_the_final_one(tmp_path: Path) -> None:
    async def story(host: Host) -> None:
        talk = await Talk.begin(host, "boss")
        assert (await talk.say("call touch")).text == "worker: Then: touched"

    tell(tmp_path, story, boss(trust=["touch"]), worker())


def test_a_failure_is_reported_with_its_error(tmp_path: Path) -> None:
    sentence = "the agent failed unexpectedly (RuntimeError); the log of the host says more"

    async def story(host: Host) -> None:
        talk = await Talk.begin(host, "boss")
        heard = await talk.say("fail now")
        assert heard.text == f"worker: Worker failed: {sentence}"
        assert heard.of("toolCallComplete")[0]["result"]["success"] is False

    tell(tmp_path, story)


def test_an_agent_that_is_not_there_and_one_that_cannot_get_ready_are_told(tmp_path: Path) -> None:
    class Unready(Agent):
        async def prepare(self, session: str) -> None:
            raise RuntimeError(session)

    async def story(host: Host) -> None:
        talk = await Talk.begin(host, "boss")
        assert (
            await talk.say("do it")
        ).text == "worker: worker could not start: the agent could not get ready"
        lost = await Talk.begin(host, "lost")
        assert (await lost.say("do it")).text == "worker: there is no agent 'nobody'"

    lost = Agent("lost", asks_worker, tools=[subagent("nobody", name="worker")])
    tell(tmp_path, story, boss(), Unready("worker", works), lost)


@pytest.mark.parametrize("how", ["cancel", "dispose"])
def test_who_ends_the_parents_turn_ends_the_childs(tmp_path: Path, how: str) -> None:
    async def story(host: Host) -> None:
        talk = await Talk.begin(host, "boss")
        await talk.send("wait for ever")
        child = await child_of(talk)
        if how == "cancel":
            await talk.cancel()
            await talk.finish()
        else:
            await host.parts.lifecycle.dispose(talk.uri)
        assert (await child.finish()).ending["type"] == "session/turnCancelled"
        left = [child.uri, talk.uri] if how == "cancel" else []
        assert await sessions(host) == left

    tell(tmp_path, story)


def test_who_cancels_the_childs_turn_or_removes_it_lets_the_parent_go_on(tmp_path: Path) -> None:
    async def story(host: Host) -> None:
        for remove in (False, True):
            talk = await Talk.begin(host, "boss")
            await talk.send("wait for ever")
            child = await child_of(talk)
            if remove:
                await host.parts.lifecycle.dispose(child.uri)
            else:
                await child.cancel()
            assert (await talk.finish()).text == "worker: Worker was cancelled before it had finished"

    tell(tmp_path, story)


def test_what_the_child_needs_is_asked_there_and_shown_in_the_parents_call(tmp_path: Path) -> None:
    async def story(host: Host) -> None:
        talk = await Talk.begin(host, "boss")
        await talk.send("call touch")
        child = await child_of(talk)
        await child.approve(await until_call(child, "pending-confirmation"))
        heard = await talk.finish()
        shown = [action["content"][1:] for action in heard.of("toolCallContentChanged")]
        assert shown[-2:] == [[{"type": "text", "text": "Waits for approval: touch"}], []]
        assert heard.text == "worker: Then: touched"
        talk = await Talk.begin(host, "boss")
        await talk.send("ask me")
        child = await child_of(talk)
        requests = await until(child, lambda state: state.get("inputRequests"))
        await until(talk, lambda state: "Waits for an answer" in str(state))
        answer = {"answer": {"kind": "text", "value": "red"}}
        assert await child.reply({"request": requests[0]}, answer) is None
        assert (await talk.finish()).text == "worker: did ask me"

    tell(tmp_path, story)


def test_a_question_that_nobody_could_see_is_declined(tmp_path: Path) -> None:
    async def story(host: Host) -> None:
        # As made by an application, which names its tools and sees no other sessions.
        talk = await Talk.begin(host, "boss", tools={"worker": True})
        assert (await talk.say("ask me")).text == "worker: did ask me"

    tell(tmp_path, story)


def test_a_turn_that_is_taken_back_leaves_nothing_to_one_with_its_id(tmp_path: Path) -> None:
    async def story(host: Host) -> None:
        talk = await Talk.begin(host, "boss")
        for task in ("one", "two"):
            message = {"turnId": "t", "userMessage": {"text": task}}
            assert await talk.act("turnStarted", **message) is None
            talk.turn_id = "t"
            assert (await talk.finish()).text == f"worker: did {task}"
            assert await talk.act("truncated") is None
        assert len(await sessions(host)) == 3
        await host.parts.lifecycle.dispose(talk.uri)
        assert await sessions(host) == []

    tell(tmp_path, story)


def other_touch() -> Tool:
    """Make another tool of the same name."""

    def touch(hard: bool = False) -> str:
        """Touch something else."""
        return "touched"

    return Tool.of(touch)


@pytest.mark.parametrize(
    ("start", "its", "tools", "result"),
    [
        ({}, touch, None, "asked"),
        ({"private": {"trusted": ["touch"]}}, touch, None, "touched"),
        ({"private": {"trusted": ["touch"]}}, other_touch(), None, "asked"),
        ({"tools": {"worker": True, "touch": True}}, touch, {"touch": True}, "touched"),
        ({"tools": {"worker": True, "touch": False}}, touch, {}, "there is no tool 'touch' in this session"),
        ({"tools": {"worker": True}}, touch, {}, "there is no tool 'touch' in this session"),
    ],
)
def test_what_needs_no_asking_in_the_parent_needs_none_in_the_child(
    tmp_path: Path, start: Any, its: Tool, tools: Any, result: str
) -> None:
    async def story(host: Host) -> None:
        talk = await Talk.begin(host, "boss", **start)
        await talk.send("call touch")
        child = await child_of(talk)
        assert child.session.private.get("tools") == tools
        if result == "asked":
            await child.deny(await until_call(child, "pending-confirmation"), result)
        await talk.finish()
        expected = "Tool call denied: asked" if result == "asked" else result
        assert talk.answer == f"worker: Then: {expected}"

    tell(tmp_path, story, boss(its), worker())


def test_tasks_nest_only_up_to_a_limit(tmp_path: Path) -> None:
    async def again(turn: Turn) -> None:
        (result,) = await turn.calls(Call("loop", {"task": turn.text}))
        await turn.say(f"{result}!")

    async def story(host: Host) -> None:
        talk = await Talk.begin(host, "loop")
        text = (await talk.say("go")).text
        deepest = Limits().task_depth
        sentence = f"tasks can be nested {deepest} deep, and this one would be deeper; do the work without it"
        assert text == sentence + "!" * 4
        assert len(await sessions(host)) == deepest + 1
        await host.parts.lifecycle.dispose(talk.uri)
        assert await sessions(host) == []

    tell(tmp_path, story, Agent("loop", again, tools=[subagent("loop")]))


def test_waiting_for_a_task_takes_no_tool_slot_and_no_time(tmp_path: Path) -> None:
    @tool(timeout=0.05, trusted=True)
    async def quick() -> str:
        """Be quick."""
        return "quick"

    async def story(host: Host) -> None:
        talks = [await Talk.begin(host, "boss") for _ in range(3)]
        for talk in talks:
            await talk.send("call quick")
        for talk in talks:
            assert (await talk.finish()).text == "worker: Then: quick"

    tell(tmp_path, story, boss(), worker(quick), tools_at_once=1)


@pytest.mark.parametrize("moment", ["child waits", "child is done"])
def test_after_a_crash_a_call_goes_on_with_the_child_that_it_had(tmp_path: Path, moment: str) -> None:
    agents = boss(), worker()
    uris: list[str] = []

    async def before() -> None:
        async with talking(tmp_path / "a", *agents) as host:
            talk = await Talk.begin(host, "boss")
            await talk.send("call touch")
            child = await child_of(talk)
            await until_call(child, "pending-confirmation")
            crash(tmp_path / "a", tmp_path / "b")
            uris.extend([talk.uri, child.uri])

    async def after() -> None:
        async with talking(tmp_path / "b", *agents) as host:
            await host.wait_restored()
            child = await Talk.join(host, uris[1])
            talk = await Talk.join(host, uris[0])
            call = await until_call(child, "pending-confirmation")
            if moment == "child is done":
                await child.approve(call)
                await child.finish()
                crash(tmp_path / "b", tmp_path / "c")
                return
            await child.approve(call)
            assert (await talk.finish()).text == "worker: Then: touched"
            assert await sessions(host) == uris[::-1]

    async def at_last() -> None:
        async with talking(tmp_path / "c", *agents) as host:
            await host.wait_restored()
            talk = await Talk.join(host, uris[0])
            await talk.finish()
            assert talk.answer == "worker: Then: touched"
            assert await sessions(host) == uris[::-1]

    (tmp_path / "a").mkdir()
    run(before)
    run(after)
    if moment == "child is done":
        run(at_last)


def test_agents_that_give_tasks_to_each_other_without_end_make_a_bounded_number_of_sessions(
    tmp_path: Path,
) -> None:
    heard: set[str] = set()

    async def again(turn: Turn) -> None:
        """Hand the same task on to others, side by side, again and again."""
        for _ in range(20):
            for result in await turn.calls(*[Call("loop", {"task": turn.text})] * 3):
                if result.startswith("a turn can give"):
                    heard.add(str(result))
                    await turn.say("enough")
                    return

    async def story(host: Host) -> None:
        talk = await Talk.begin(host, "loop")
        for total in (13, 25):  # for each turn anew
            await talk.say("go")
            assert len(await sessions(host)) == total
            assert talk.session.private.get("tasks") is None
        limit = "a turn can give 12 tasks, including tasks of its tasks, and all are used; "
        assert heard == {limit + "do the work without more"}

    tell(tmp_path, story, Agent("loop", again, tools=[subagent("loop")]), tasks_per_turn=12, tasks_at_once=99)


def test_only_so_many_tasks_of_a_turn_run_at_once_and_the_model_is_told(tmp_path: Path) -> None:
    async def many(turn: Turn) -> None:
        results = await turn.calls(*[Call("worker", {"task": "ask"})] * 5)
        await turn.say("\n".join(results))

    async def story(host: Host) -> None:
        talk = await Talk.begin(host, "many")
        await talk.send("go")
        await until(talk, lambda state: len(_ended(state)) == 2)
        sentence = "a turn can have 3 tasks at once, including tasks of its tasks, and as many are running; "
        told = {call["error"]["message"] for call in _ended(talk.state)}
        assert told == {sentence + "do the work without more, or try again when one has ended"}
        children = await until(talk, lambda state: len(_children(state)) == 3 and _children(state))
        assert len(await sessions(host)) == 1 + 3
        for uri in children:
            child = await Talk.join(host, uri, "another")
            await until(child, lambda state: state.get("inputRequests"))
            request = child.state["inputRequests"][0]["id"]
            await child.act("inputCompleted", requestId=request, response="decline")
        await talk.finish()
        assert talk.answer.count("did ask") == 3

    tell(tmp_path, story, Agent("many", many, tools=[subagent("worker")]), worker(), tasks_at_once=3)


def _children(state: Any) -> list[str]:
    content = [block for call in calls_in(state.get("activeTurn")) for block in call.get("content", [])]
    return [block["resource"] for block in content if block["type"] == "subagent"]


def _ended(state: Any) -> list[Any]:
    return [call for call in calls_in(state.get("activeTurn")) if call["status"] == "completed"]


def test_tasks_from_before_a_crash_count(tmp_path: Path) -> None:
    async def many(turn: Turn) -> None:
        for _ in range(3):
            (result,) = await turn.calls(Call("worker", {"task": "go"}))
            await turn.say(f"{result}. ")
        await turn.ask("More?")
        (result,) = await turn.calls(Call("worker", {"task": "go"}))
        await turn.say(f"{result}. ")

    agents = Agent("many", many, tools=[subagent("worker")]), worker()
    uris: list[str] = []

    async def before() -> None:
        async with talking(tmp_path / "a", *agents, limits=Limits(tasks_per_turn=3)) as host:
            talk = await Talk.begin(host, "many")
            uris.append(talk.uri)
            await talk.send("go")
            await until(talk, lambda state: state.get("inputRequests"))
            crash(tmp_path / "a", tmp_path / "b")

    async def after() -> None:
        async with talking(tmp_path / "b", *agents, limits=Limits(tasks_per_turn=3)) as host:
            talk = await Talk.join(host, uris[0])
            request = talk.state["inputRequests"][0]["id"]
            await talk.act("inputCompleted", requestId=request, response="decline")
            await talk.finish()
            assert talk.answer.endswith("and all are used; do the work without more. ")
            assert len(await sessions(host)) == 4

    (tmp_path / "a").mkdir()
    run(before)
    run(after)
