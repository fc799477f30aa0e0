"""An agent that is a program which speaks ACP and acts as it is told, and a host that serves it."""

import asyncio
import json
import sys
import threading
from collections.abc import Coroutine, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

from agenthost.agents.acp import AcpAgent
from agenthost.host.authoring.agent import Agent
from agenthost.host.host import Host
from hosting import TIMEOUT
from sites import Site, site
from talking import Talk
from turning import pass_time

T = TypeVar("T")

PROGRAMS = Path(__file__).parent / "agents" / "acp"


def acting(home: Path, *flags: str, **declared: Any) -> AcpAgent:
    """Make the agent that acts as it is told; `home` is where it keeps its sessions."""
    home.mkdir(exist_ok=True)
    env = {"ACTING_HOME": str(home), **declared.pop("env", {})}
    words = [sys.executable, str(PROGRAMS / "acting.py"), *flags]
    return AcpAgent("acting", words, env=env, **declared)


class Served:
    """A server in a thread of this process, and the way into its event loop."""

    def __init__(self, site: Site, loop: asyncio.AbstractEventLoop) -> None:
        self.site, self.url, self._loop = site, site.url, loop
        self.workspace: Path = site.host.workspace

    def run(self, story: Coroutine[Any, Any, T], seconds: float = TIMEOUT) -> T:
        """Run something on the server's own event loop."""
        return asyncio.run_coroutine_threadsafe(asyncio.wait_for(story, seconds), self._loop).result()

    async def talk(self, agent: str = "acting", **start: Any) -> Talk:
        """Begin a session."""
        return await Talk.begin(self.site.host, agent, **start)


@contextmanager
def serving(folder: Path, *agents: Agent) -> Iterator[Served]:
    """Serve these agents, with a workspace of their own."""
    (folder / "data").mkdir(parents=True)
    workspace = folder / "workspace"
    workspace.mkdir()
    started: list[Served] = []
    is_up, is_over = threading.Event(), threading.Event()

    async def serve() -> None:
        async with site(folder / "data", agents=agents, workspace=str(workspace)) as served:
            started.append(Served(served, asyncio.get_running_loop()))
            is_up.set()
            await asyncio.to_thread(is_over.wait)

    thread = threading.Thread(target=asyncio.run, args=[serve()])
    thread.start()
    try:
        assert is_up.wait(TIMEOUT)
        yield started[0]
    finally:
        is_over.set()
        thread.join(TIMEOUT)


def last(talk: Talk) -> Any:
    """Return the last turn that ended."""
    return talk.state["turns"][-1]


async def memory(talk: Talk) -> Any:
    """Ask the program what it was told before."""
    return json.loads((await talk.say("memory")).text)


def relay_of(host: Host) -> Any:
    """Return the relay to the program, to inspect it."""
    agent: Any = host.agents["acting"]
    return agent.relay


def is_alive(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return False
    return state != "Z"


async def until_gone(pid: int) -> None:
    while is_alive(pid):
        await pass_time(0.02)


def words_in(file: Path) -> str:
    return file.read_text().strip() if file.exists() else ""


async def pid_in(file: Path) -> int:
    while not (words := words_in(file)):
        await pass_time(0.02)
    return int(words)
