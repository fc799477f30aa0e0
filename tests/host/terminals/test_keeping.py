"""Processes never outlive their terminal or the host, whatever they do, and however the host ends."""

import asyncio
import json
import os
import signal
import sys
import time
from pathlib import Path

import pytest

from agenthost.errors import LimitReached
from agenthost.host.host import Host
from hosting import run
from shelling import URI, Watch, claim_of, is_alive, until_so
from talking import talking

LINUX = pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")

STUBBORN = """
trap '' HUP TERM INT
echo $$ > shell
(trap '' HUP TERM; echo $BASHPID > child; while :; do sleep 60; done) &
(setsid sh -c 'trap "" HUP TERM; echo $$ > away; while :; do sleep 60; done' &)
while :; do sleep 60; done
"""
NAMES = ("shell", "child", "away")


async def pids_of(folder: Path) -> list[int]:
    """Wait until all of the processes have told who they are."""
    files = [folder / name for name in NAMES]
    await until_so(lambda: all(file.exists() and file.read_text().endswith("\n") for file in files))
    return [int(file.read_text()) for file in files]


@LINUX
def test_removing_a_terminal_ends_processes_that_ignore_signals_or_left_its_session(tmp_path: Path) -> None:
    async def story() -> None:
        async with talking(tmp_path) as host:
            await host.parts.terminals.create(URI, claim_of("me"), command=["bash", "-c", STUBBORN])
            pids = await pids_of(host.workspace)
            assert all(map(is_alive, pids))
            await host.parts.terminals.dispose(URI)
            assert not any(map(is_alive, pids))

    run(story)


@LINUX
def test_the_jobs_of_a_shell_end_with_it(tmp_path: Path) -> None:
    async def story() -> None:
        async with talking(tmp_path) as host:
            watch = await Watch.start(host, ["bash", "--norc", "-i"])
            await watch.type("nohup sleep 60 & echo $! > job; disown; exit 5\r")
            assert await watch.until_exit() == 5
            assert not is_alive(int((host.workspace / "job").read_text()))

    run(story)


@LINUX
def test_closing_the_host_ends_all_terminals_concurrently(tmp_path: Path) -> None:
    async def story() -> None:
        pids = []
        async with talking(tmp_path) as host:
            for place in range(4):
                folder = host.workspace / str(place)
                folder.mkdir()
                command = ["bash", "-c", STUBBORN]
                await host.parts.terminals.create(
                    f"term:/{place}", claim_of("me"), command=command, cwd=folder.as_uri()
                )
                pids += await pids_of(folder)
            begun = time.monotonic()
        assert not any(map(is_alive, pids))
        assert time.monotonic() - begun < 10

    run(story)


SERVED = """
import asyncio, json, sys
from pathlib import Path
from agenthost.errors import LimitReached
from agenthost.host.host import Host

async def main():
    async with Host(workspace=sys.argv[1], sandbox="off") as host:
        claim = {"kind": "client", "clientId": "me"}
        await host.parts.terminals.create("term:/1", claim, command=["bash", "-c", sys.argv[2]])
        await host.parts.terminals.create("term:/2", claim, command=["bash", "--norc", "-i"])
        print("open", flush=True)
        await asyncio.Event().wait()

asyncio.run(main())
"""


@LINUX
def test_a_host_that_is_killed_leaves_nothing_behind(tmp_path: Path) -> None:
    async def story() -> None:
        served = await asyncio.create_subprocess_exec(
            *(sys.executable, "-c", SERVED, str(tmp_path), STUBBORN), stdout=asyncio.subprocess.PIPE
        )
        assert served.stdout is not None
        assert await served.stdout.readline() == b"open\n"
        pids = [*await pids_of(tmp_path), *children_of(served.pid)]
        assert len(pids) > 5
        served.send_signal(signal.SIGKILL)
        await served.wait()
        await until_so(lambda: not any(map(is_alive, pids)))

    run(story)


def children_of(pid: int) -> list[int]:
    """Return all processes below this one."""
    below = [
        int(one) for path in Path(f"/proc/{pid}/task").glob("*/children") for one in path.read_text().split()
    ]
    return below + [one for child in below for one in children_of(child)]


def new_children(known: list[int]) -> set[int]:
    """Return the processes below this one but those: servers that other tests share may be there."""
    return set(children_of(os.getpid())) - set(known)


@LINUX
def test_killing_a_keeper_ends_its_program_and_the_end_is_reported(tmp_path: Path) -> None:
    async def story() -> None:
        async with Host(workspace=tmp_path, sandbox="off") as host:
            watch = await Watch.start(host, "echo $$ $PPID; exec cat")
            await watch.until_text("\r\n")
            program, keeper = map(int, watch.text.split())
            os.kill(keeper, signal.SIGKILL)
            assert await watch.until_exit() is None
            await until_so(lambda: not is_alive(program))
            refusal = await watch.act("input", data="x")
            assert refusal is not None
            assert "has exited" in json.loads(refusal.envelopes()[0])["rejectionReason"]

    run(story)


@LINUX
@pytest.mark.sqlite  # which has no child processes of its own
@pytest.mark.parametrize("ticks", [1, 2, 3, 5, 8, 13, 50, 200, 400])
def test_a_start_that_is_cancelled_at_any_moment_leaves_nothing_behind(tmp_path: Path, ticks: int) -> None:
    known = children_of(os.getpid())

    async def story() -> None:
        async with talking(tmp_path) as host:
            making = asyncio.create_task(host.parts.terminals.create(URI, claim_of("me"), command="cat"))
            for _ in range(ticks):
                await asyncio.sleep(0)
            making.cancel()
            await asyncio.wait([making])
            if making.cancelled():
                assert host.parts.terminals.list() == []
                await until_so(lambda: not new_children(known))
                await host.parts.terminals.create(URI, claim_of("me"), command="cat")

    run(story)


@LINUX
@pytest.mark.sqlite
def test_closing_the_host_during_a_start_leaves_nothing_behind(tmp_path: Path) -> None:
    known = children_of(os.getpid())

    async def story() -> None:
        async with talking(tmp_path) as host:
            making = asyncio.create_task(host.parts.terminals.create(URI, claim_of("me"), command="cat"))
            await until_so(lambda: new_children(known))
            await host.parts.terminals.close()
            with pytest.raises(LimitReached, match="closed"):
                await making
            assert not new_children(known)

    run(story)
