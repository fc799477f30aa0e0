"""Tools and subagents as people run them: a server of its own, both protocols, a kill in the middle."""

import asyncio
import signal
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from agenthost.client import AapClient, Permission, ToolCall
from agenthost.client.ahp import AhpClient, answer_text, subagent_session
from agenthost.client.ahp.session import Session
from agenthost.core.session_meta import diffs_of
from hosting import run
from serving import Served, serving, wait_ready

EXAMPLES = Path(__file__).parents[2] / "examples"

AGENTS = """
from agenthost import Call, Host, Turn
from agenthost.tools.subagents import subagent
from agenthost.tools.workspace import edit_file, write_file

host = Host()

@host.agent("boss", tools=[subagent("worker"), write_file])
async def boss(turn: Turn) -> None:
    await turn.say("I ask. ")
    (result,) = await turn.calls(Call("worker", {"task": turn.text}))
    await turn.say(f"It says: {result}")

@host.agent("worker", tools=[write_file])
async def worker(turn: Turn) -> None:
    await turn.say("Now. ")
    (result,) = await turn.calls(Call("write_file", {"path": "a.txt", "content": turn.text}))
    await turn.say(str(result))
"""

Story = Callable[[str], Awaitable[None]]


def tell(served: Served, story: Story) -> None:
    """Tell a story to a server that is about to be ready."""
    url = served.wait_url()
    wait_ready(url)
    run(lambda: story(url))


def ahp_of(url: str) -> AhpClient:
    return AhpClient(f"{url.replace('http', 'ws', 1)}/ahp")


async def wait_call(session: Session) -> Any:
    await session.until(lambda _: session.open_calls)
    return session.open_calls[0]


def test_the_renamer_shows_its_edits_over_ahp_and_asks_over_aap(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("cat and cats\n")
    (tmp_path / "b.txt").write_text("a cat\n")
    asked: list[Any] = []

    def decide(call: ToolCall) -> Permission:
        asked.append(call["input"])
        return Permission(granted=call["input"]["path"] == "b.txt", reason="leave it")

    async def story(url: str) -> None:
        async with AapClient(f"{url}/aap", permission=decide) as aap, ahp_of(url) as ahp:
            session = await ahp.create("renamer")
            turn = asyncio.create_task(session.ask("cat dog"))
            call = await wait_call(session)
            (edit,) = call["edits"]["items"]
            assert (call["invocationMessage"], edit["diff"]) == ("Edit a.txt", {"added": 1, "removed": 1})
            assert await ahp.files.read_text(edit["after"]["content"]["uri"]) == "dog and dogs\n"
            session.approve(call, option="allow-session")
            assert "Edited b.txt" in await turn
            assert len(diffs_of(session.confirmed.session)) == 2

            tools = {"server_tools": ["edit_file"], "trusted_tools": ["search"]}
            application = await aap.create("renamer", **tools)  # type: ignore[arg-type]
            await application.ask("dog cow")

    with serving("--data", tmp_path / ".data", "--workspace", tmp_path, EXAMPLES / "renamer.py") as served:
        tell(served, story)
    assert [call["path"] for call in asked] == ["a.txt"]
    assert [(tmp_path / name).read_text() for name in ("a.txt", "b.txt")] == ["dog and dogs\n", "a dog\n"]


def test_the_lead_runs_tasks_in_parallel(tmp_path: Path) -> None:
    for name in ("a.py", "b.py", "c.md"):
        (tmp_path / name).touch()
    expected = "- 2 files fit *.py\n- 1 files fit *.md\n"

    async def story(url: str) -> None:
        async with AapClient(f"{url}/aap") as aap, ahp_of(url) as ahp:
            application = await aap.create("lead", trusted_tools=["counter"])
            assert (await application.ask("*.py *.md")).text == expected
            session = await ahp.create("lead")
            assert await session.ask("*.py *.md") == expected
            blocks = [part["toolCall"]["content"][0] for part in session.turns[-1]["responseParts"][:2]]  # type: ignore[typeddict-item]
            children = [await ahp.session(subagent_session(block)) for block in blocks]
            assert [answer_text(child.turns[-1]) for child in children] == [
                "2 files fit *.py",
                "1 files fit *.md",
            ]

    with serving("--data", tmp_path / ".data", "--workspace", tmp_path, EXAMPLES / "subagents.py") as served:
        tell(served, story)


def test_a_task_survives_a_kill_of_the_host_and_is_not_given_twice(tmp_path: Path) -> None:
    (tmp_path / "agents.py").write_text(AGENTS)
    words = ("--data", tmp_path / "data", "--workspace", tmp_path, tmp_path / "agents.py")
    uris: list[str] = []

    async def before(url: str) -> None:
        async with ahp_of(url) as ahp:
            session = await ahp.create("boss")
            await session.send("hello")
            await session.until(lambda _: any("content" in call for call in session.calls))
            block: Any = session.calls[0]["content"][0]  # type: ignore[typeddict-item]
            child = await ahp.session(subagent_session(block))
            await wait_call(child)
            uris.extend([session.uri, child.uri])

    async def after(url: str) -> None:
        async with ahp_of(url) as ahp:
            session, child = [await ahp.session(uri) for uri in uris]
            child.approve(await wait_call(child))
            state = await session.until(lambda state: state.chat["turns"])
            assert answer_text(state.chat["turns"][-1]).startswith("I ask. It says: Wrote a.txt: +1 -0 lines")
            assert [one["resource"] for one in await ahp.sessions.load()] == uris[:1]
            assert len(session.state.session["chats"]) == 2

    with serving(*words) as served:
        tell(served, before)
        assert served.stop(signal.SIGKILL) == -signal.SIGKILL
    with serving(*words) as served:
        tell(served, after)
    assert (tmp_path / "a.txt").read_text() == "hello"
