"""A turn that crashes the host is not run for ever, and no other turn is ended because of it."""

import asyncio
import json
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from agenthost import Agent, Call, Limits, ToolContext, Turn, tool
from agenthost.core.queries import error_of, open_questions
from agenthost.tools.subagents import subagent
from hosting import run
from serving import TIMEOUT
from talking import Talk, talking
from turning import crash, made, parts, pass_time

pytestmark = pytest.mark.sqlite  # a crash is a copy of the data folder

MAX_CRASHES = Limits().crashes_per_turn

SCRIPT = """
import asyncio, json, os, re, signal, sys
from agenthost import Agent, Call, Host, tool
from agenthost.core.actions import turn_started
from agenthost.core.queries import open_questions
from agenthost.host.access.identity import Identity
from agenthost.host.sessions.new_session import NewSession

begun = asyncio.Event()

async def wait_durable():
    await begun.wait()
    await host.parts.engine.journal.wait()

@tool(read_only=True)
async def kill() -> str:
    await wait_durable()
    os.kill(os.getpid(), signal.SIGKILL)

@tool(read_only=True)
async def leave() -> str:
    await wait_durable()
    os._exit(3)

@tool(read_only=True)
async def hold() -> str:
    await wait_durable()
    print("held", flush=True)
    re.match("(a*)*b", "a" * 60)

@tool(read_only=True)
async def work() -> str:
    await asyncio.sleep(1)
    return "worked"

async def answer(turn):
    if turn.text == "ask":
        await turn.ask("Which colour?")
    await turn.calls(Call(turn.text, {}))

async def main(data, *texts):
    global host
    host = Host(data=data)
    host.add(Agent("demo", answer, tools=[kill, leave, hold, work]))
    async with host:
        rows = await host.parts.engine.sessions.page(owner=None, before=None, limit=10)
        sessions = [await host.parts.engine.sessions.get(row.uri) for row in reversed(rows)]
        for text in texts[len(sessions):]:
            tools = dict.fromkeys(["kill", "leave", "hold", "work"], True)
            sessions.append(await host.parts.lifecycle.create(NewSession(agent="demo", tools=tools)))
            message = {"text": text, "origin": {"kind": "user"}}
            action = turn_started("t", message, sessions[-1].now())
            await host.client(Identity("me")).dispatch(len(sessions), sessions[-1].chat_uri, action)
        begun.set()
        while any(one.has_turn and not open_questions(one.chat) for one in sessions):
            await asyncio.sleep(0.05)
        print(json.dumps([[*one.chat["turns"], one.chat.get("activeTurn")][0] for one in sessions]))

asyncio.run(main(*sys.argv[1:]))
"""


def start(folder: Path, *texts: str) -> tuple[int, str]:
    """Run a host until its turns have ended or wait; return how the process ended, and what it printed."""
    words = [sys.executable, "-c", SCRIPT, str(folder / "data"), *texts]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True, cwd=folder) as process:
        assert process.stdout is not None
        line = process.stdout.readline()
        if line == "held\n":
            process.kill()  # as those do who watch over services
        process.wait(TIMEOUT)
        return process.returncode, line


def outcome(turn: Any) -> str:
    state = turn.get("state", "waits")
    error = error_of(turn) if state == "error" else None
    return str(state if error is None else error["errorType"])


@pytest.mark.parametrize(
    ("texts", "code"),
    [
        (["kill", "work", "ask"], -signal.SIGKILL),
        (["work", "ask", "kill"], -signal.SIGKILL),
        (["leave"], 3),
        (["hold"], -signal.SIGKILL),
    ],
)
def test_a_turn_that_ends_its_host_three_times_is_ended_at_the_fourth_start_and_no_other_is(
    tmp_path: Path, texts: list[str], code: int
) -> None:
    for _ in range(MAX_CRASHES):
        assert start(tmp_path, *texts)[0] == code
    ended, printed = start(tmp_path, *texts)
    assert ended == 0
    turns = json.loads(printed)
    expected = {"work": "complete", "ask": "waits"}
    assert [outcome(turn) for turn in turns] == [expected.get(text, "hostCrashed") for text in texts]
    (poison,) = [error for turn in turns if "state" in turn and (error := error_of(turn)) is not None]
    assert poison["message"] == (
        "the host ended unexpectedly 3 times while this turn ran, each time before the turn got any further; "
        "so it is not run again"
    )


class World:
    """Lets the host die again and again, each time when a turn has come to the point where it hangs."""

    def __init__(self) -> None:
        self.starts = 0
        self._is_there = asyncio.Event()

    async def hang(self) -> None:
        self._is_there.set()
        await asyncio.Event().wait()

    async def wait(self, talk: Talk) -> None:
        """Wait until the turn hangs, waits, or has ended, and all of that is durable."""
        session = talk.session
        while not self._is_there.is_set() and session.has_turn and not open_questions(session.chat):
            await pass_time(0.01)
        await talk.host.parts.engine.journal.wait()

    def run(self, folder: Path, *agents: Agent, is_planned: bool = False) -> Any:
        """Start hosts until the turn has ended, some times at most; return it, and its session."""
        found: list[Any] = []

        async def story() -> None:
            uri = ""
            state: Any = {}
            for self.starts in range(MAX_CRASHES + 3):
                self._is_there = asyncio.Event()
                here = folder / ("0" if is_planned else str(self.starts))
                here.mkdir(exist_ok=True)
                async with talking(here, *agents) as host:
                    talk = await (Talk.join(host, uri) if uri else Talk.begin(host, agents[0].name))
                    if not uri:
                        uri = talk.uri
                        await talk.send("go")
                    await self.wait(talk)
                    if not is_planned:
                        crash(here, folder / str(self.starts + 1))
                    state = talk.session.shown_chat.state
                if "activeTurn" not in state:
                    break
            found.append([*state["turns"], state.get("activeTurn")][0])

        run(story)
        return found[0]


def test_the_output_of_a_running_tool_is_not_progress(tmp_path: Path) -> None:
    world = World()

    @tool(read_only=True, trusted=True)
    async def look(context: ToolContext) -> str:
        """Look around, for ever."""
        await context.progress(f"start {world.starts}")
        await world.hang()
        return ""

    async def answer(turn: Turn) -> None:
        await turn.call("look")

    turn = world.run(tmp_path, made(answer, tools=[look]))
    assert (world.starts, outcome(turn)) == (MAX_CRASHES, "hostCrashed")


def test_an_agent_that_only_begins_its_answer_again_makes_no_progress(tmp_path: Path) -> None:
    world = World()

    async def answer(turn: Turn) -> None:
        await turn.say(f"{world.starts} is the number of this start.")
        await world.hang()

    turn = world.run(tmp_path, made(answer))
    assert (world.starts, outcome(turn)) == (MAX_CRASHES, "hostCrashed")


def test_a_turn_that_makes_progress_each_time_is_resumed_each_time(tmp_path: Path) -> None:
    world = World()

    async def answer(turn: Turn) -> None:
        for number in range(world.starts + 1):
            await turn.say(f"{number}, ")
        await world.hang()

    turn = world.run(tmp_path, made(answer))
    assert (world.starts, outcome(turn)) == (MAX_CRASHES + 2, "waits")
    assert parts(turn) == [("markdown", "0, 1, 2, 3, 4, 5, ")]


def test_a_turn_that_waits_for_people_is_not_counted(tmp_path: Path) -> None:
    world = World()

    async def answer(turn: Turn) -> None:
        await turn.ask("Which colour?")

    turn = world.run(tmp_path, made(answer))
    assert (world.starts, outcome(turn)) == (MAX_CRASHES + 2, "waits")


def test_planned_stops_are_not_counted(tmp_path: Path) -> None:
    world = World()

    async def answer(turn: Turn) -> None:
        await world.hang()

    turn = world.run(tmp_path, made(answer), is_planned=True)
    assert (world.starts, outcome(turn)) == (MAX_CRASHES + 2, "waits")


def test_a_turn_that_waits_for_its_task_goes_on_when_that_is_ended(tmp_path: Path) -> None:
    world = World()

    async def asks(turn: Turn) -> None:
        (result,) = await turn.calls(Call("worker", {"task": "hang"}))
        await turn.say(f"worker: {result}")

    async def works(turn: Turn) -> None:
        await world.hang()

    turn = world.run(
        tmp_path, Agent("boss", asks, tools=[subagent("worker")]), Agent("worker", works, title="Worker")
    )
    assert (world.starts, outcome(turn)) == (MAX_CRASHES, "complete")
    assert turn["responseParts"][-1]["content"].startswith(
        "worker: Worker failed: the host ended unexpectedly 3 times"
    )
