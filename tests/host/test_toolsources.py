"""Tools that come and go: sources that start in the background, change, are late, or fail."""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from agenthost.core.transcript import requested_calls
from agenthost.host.authoring import tool_sources as toolsources
from agenthost.host.authoring.agent import Agent
from agenthost.host.authoring.steps import Call
from agenthost.host.authoring.tool import Tool, tool
from agenthost.host.authoring.tool_source import ToolSource
from agenthost.host.authoring.turn import Turn
from hosting import run
from talking import Talk, talking
from turning import made, until, until_call


@tool
def fixed() -> str:
    return "fixed"


def named(name: str, **more: Any) -> Tool:
    return Tool.of(lambda: f"this is {name}", name=name, **{"trusted": True, **more})


class Shelf(ToolSource):
    """Tools that a test puts there."""

    def __init__(self, name: str = "shelf", *tools: Tool, is_open: bool = True) -> None:
        self.name = name
        self.held: Sequence[Tool] = tools
        self.open = asyncio.Event()
        self.told: list[Callable[[], None]] = []
        self.workspace: Path | None = None
        if is_open:
            self.open.set()

    def tools(self) -> Sequence[Tool]:
        return self.held if self.open.is_set() else ()

    async def start(self, workspace: Path, changed: Callable[[], None]) -> None:
        self.workspace = workspace
        self.told.append(changed)
        await self.open.wait()

    async def stop(self) -> None:
        self.told.pop()

    def put(self, *tools: Tool) -> None:
        self.held = tools
        for changed in self.told:
            changed()


async def use_all(turn: Turn) -> AsyncIterator[str | Call]:
    """Call every tool once, and say what there is then."""
    called = [call["name"] for message in turn.messages for call in requested_calls(message)]
    names = [one["name"] for one in turn.tools]
    if not called:
        for name in names:
            yield Call(name)
    else:
        yield f"called {', '.join(called)}; there are {', '.join(names)}"


def shown(talk: Talk) -> list[str]:
    return [one["name"] for one in talk.state["serverTools"]]


def test_an_agent_has_the_tools_of_its_sources_beside_its_own(tmp_path: Path) -> None:
    shelf = Shelf("shelf", named("lent"))
    agent = made(use_all, tools=[named("own"), shelf])

    async def story() -> None:
        async with talking(tmp_path, agent) as host:
            talk = await Talk.begin(host)
            await talk.say("Hi")
            assert talk.answer == "called own, lent; there are own, lent"
            assert shown(talk) == ["own", "lent"]
            assert shelf.workspace == host.workspace
        assert shelf.told == []

    run(story)


def test_sessions_show_a_list_that_changed_and_so_do_those_who_come_back(tmp_path: Path) -> None:
    shelf = Shelf("shelf", named("a"))

    async def story() -> None:
        async with talking(tmp_path, made(use_all, tools=[fixed, shelf])) as host:
            await host.parts.tool_sources.wait(host.agents["demo"])
            talk = await Talk.begin(host)
            some = await Talk.begin(host, tools={"fixed": False})
            shelf.put(named("b"))
            changed = await talk.hear_one("serverToolsChanged")
            assert [one["name"] for one in changed["tools"]] == ["fixed", "b"]
            assert shown(some) == ["fixed"]
            uri = talk.uri
        shelf.put(named("c"))
        async with talking(tmp_path, made(use_all, tools=[fixed, shelf])) as host:
            await host.parts.tool_sources.wait(host.agents["demo"])
            again = await Talk.join(host, uri)
            await until(again, lambda _: shown(again) == ["fixed", "c"])

    run(story)


def test_a_step_keeps_the_tools_that_it_was_given(tmp_path: Path) -> None:
    shelf = Shelf("shelf", named("old", trusted=False))

    async def story() -> None:
        async with talking(tmp_path, made(use_all, tools=[shelf])) as host:
            talk = await Talk.begin(host)
            await talk.send("Hi")
            ready = await talk.hear_one("toolCallReady")
            shelf.put(named("new"))
            await talk.approve(ready)
            heard = await talk.finish()
            (done,) = heard.of("toolCallComplete")
            assert done["result"]["content"] == [{"type": "text", "text": "this is old"}]
            assert talk.answer == "called old; there are new"

    run(story)


def test_a_host_opens_without_waiting_and_a_turn_waits_a_little(tmp_path: Path) -> None:
    shelf = Shelf("shelf", named("late"), is_open=False)

    async def story() -> None:
        async with talking(tmp_path, made(use_all, tools=[shelf])) as host:
            assert not host.parts.tool_sources.is_settled(host.agents["demo"])
            talk = await Talk.begin(host)
            await talk.send("Hi")
            shelf.open.set()
            await talk.finish()
            assert talk.answer == "called late; there are late"

    run(story)


def test_a_turn_does_without_the_tools_of_a_source_that_takes_too_long(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(toolsources, "READY_SECONDS", 0.01)
    shelf = Shelf("shelf", named("never"), is_open=False)

    async def story() -> None:
        async with talking(tmp_path, made(use_all, tools=[named("own"), shelf])) as host:
            talk = await Talk.begin(host)
            await talk.say("Hi")
            assert talk.answer == "called own; there are own"

    run(story)


def test_a_call_that_waited_over_a_restart_finds_its_tool_again(tmp_path: Path) -> None:
    async def story() -> None:
        async with talking(tmp_path, made(use_all, tools=[Shelf("s", named("lent", trusted=False))])) as host:
            talk = await Talk.begin(host)
            await talk.send("Hi")
            await until_call(talk, "pending-confirmation")
            uri = talk.uri
        shelf = Shelf("s", named("lent", trusted=False), is_open=False)
        async with talking(tmp_path, made(use_all, tools=[shelf])) as host:
            talk = await Talk.join(host, uri)
            await talk.approve(await until_call(talk, "pending-confirmation"))
            shelf.open.set()
            await talk.finish()
            assert talk.answer == "called lent; there are lent"

    run(story)


def test_a_source_that_fails_is_in_the_log_and_the_rest_works(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    class Broken(Shelf):
        async def start(self, workspace: Path, changed: Callable[[], None]) -> None:
            raise RuntimeError("no shelf here")

        async def stop(self) -> None:
            raise RuntimeError("nor there")

    async def story() -> None:
        agent = made(use_all, tools=[Broken("broken"), Shelf("good", named("a"))])
        async with talking(tmp_path, agent) as host:
            talk = await Talk.begin(host)
            await talk.say("Hi")
            assert talk.answer == "called a; there are a"

    run(story)
    assert "the tools of broken for agent demo could not be started" in caplog.text
    assert "the tools of broken could not be stopped" in caplog.text


def test_of_two_tools_of_one_name_the_first_stays(caplog: pytest.LogCaptureFixture) -> None:
    first, second = named("same"), named("same")
    agent = Agent("demo", use_all, tools=[Shelf("a", first), Shelf("b", second), fixed])
    agent.gather_tools()
    assert list(agent.toolset) == ["fixed", "same"]
    assert agent.toolset["same"] is first
    assert "tool same of b is left out: another tool has its name" in caplog.text


def test_a_tool_that_trusts_itself_asks_where_the_session_says_so(tmp_path: Path) -> None:
    async def story() -> None:
        async with talking(tmp_path, made(use_all, tools=[named("safe")])) as host:
            open_talk = await Talk.begin(host)
            await open_talk.say("Hi")
            assert open_talk.answer == "called safe; there are safe"
            strict = await Talk.begin(host, tools={"safe": False})
            await strict.send("Hi")
            await strict.approve(await strict.hear_one("toolCallReady"))
            await strict.finish()

    run(story)
