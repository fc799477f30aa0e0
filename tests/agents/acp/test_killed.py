"""A real server that is killed with SIGKILL while its program works: nothing is left, and nothing hangs."""

import asyncio
import signal
import sys
from pathlib import Path

import pytest

from acp_acting import PROGRAMS, is_alive, pid_in
from agenthost.client.ahp import AhpClient, answer_text
from agenthost.core.queries import error_of
from serving import Served, serving


def served_by(folder: Path, *flags: str) -> list[str | Path]:
    words = " ".join([sys.executable, str(PROGRAMS / "acting.py"), *flags])
    env = f"ACTING_HOME={folder / 'home'}"
    where: list[str | Path] = ["--data", folder / "data", "--workspace", folder, "--sandbox", "off"]
    return [*where, "--acp", f"acting={words}", "--acp-env", env]


async def begin(served: Served, pids: Path) -> str:
    """Begin a turn that does not end, in a session that knows something."""
    async with AhpClient(f"{served.wait_url()}/ahp") as client:
        session = await client.create("acting")
        assert await session.ask("say hello") == "hello "
        await session.send(f"hang {pids}")
        await pid_in(pids)
        return session.uri


async def look(served: Served, uri: str) -> tuple[str, str]:
    """Return how the turn ended, and the answer of the program to a new one."""
    async with AhpClient(f"{served.wait_url()}/ahp") as client:
        session = await client.session(uri)
        state = await session.until(lambda state: "activeTurn" not in state.chat)
        error = error_of(state.chat["turns"][-1])
        await session.ask("memory")
        return "" if error is None else error["message"], answer_text(session.turns[-1])


@pytest.mark.parametrize("flag", ["--load", "--no-load"])
def test_a_server_that_was_killed_comes_back_and_its_program_is_gone(tmp_path: Path, flag: str) -> None:
    (tmp_path / "home").mkdir()
    pids = tmp_path / "pid"
    with serving(*served_by(tmp_path, flag)) as served:
        uri = asyncio.run(asyncio.wait_for(begin(served, pids), 30))
        pid = int(pids.read_text())
        assert is_alive(pid)
        served.stop(signal.SIGKILL)
    with serving(*served_by(tmp_path, flag)) as served:
        sentence, known = asyncio.run(asyncio.wait_for(look(served, uri), 30))
    assert sentence.startswith("This host was restarted while acting was at work")
    assert known == ('["say hello", "hang ' + str(pids) + '"]' if flag == "--load" else "[]")
    assert not is_alive(pid)
