"""A host that is told to stop ends in time, whatever its code does to the interpreter."""

import signal
import time
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import pytest

from bounding import run_bounded
from serving import ECHO, Answer, ask, serving

ENDLESS = f"""{ECHO}
import re
import sys
import threading

def hold():
    print("held", flush=True)
    re.match("(a*)*b", "a" * 60)

async def start():
    CALL

echo.start = start
"""
"""Python's expressions hold its lock from the beginning of a match to its end, which is years away here."""


@pytest.mark.parametrize("call", ["hold()", "threading.Thread(target=hold, daemon=True).start()"])
@pytest.mark.parametrize("kind", [signal.SIGTERM, signal.SIGINT])
def test_a_host_whose_gil_is_held_forever_ends_in_time(
    tmp_path: Path, call: str, kind: signal.Signals
) -> None:
    file = tmp_path / "endless.py"
    file.write_text(ENDLESS.replace("CALL", call))
    with serving(file, "--data", tmp_path / "data") as served:
        served.out.wait_for("held")
        begun = time.monotonic()
        assert served.stop(kind) == -signal.SIGKILL
        assert time.monotonic() - begun < 10
        assert served.err.rest()[-1] == "agenthost: could not be stopped within 9 seconds; killed"


def test_a_system_call_does_not_keep_the_signal_from_its_handler() -> None:
    code = """
import os, signal, threading
from agenthost.edges.shutdown import Stopper

class Heard(Exception): pass

class Raising(Stopper):
    def _on_signal(self, number, frame):
        super()._on_signal(number, frame)
        raise Heard

reading, writing = os.pipe()
with Raising():
    for _ in range(2):
        tid = threading.get_ident()
        threading.Timer(0.3, lambda: signal.pthread_kill(tid, signal.SIGTERM)).start()
        try:
            os.read(reading, 1)
        except Heard:
            print("heard")
"""
    assert run_bounded(code).split() == ["heard", "heard"]


def test_code_that_runs_after_the_server_has_no_watchdog() -> None:
    code = """
import os, signal
from agenthost.edges.shutdown import Stopper

def has_children():
    try:
        return os.waitpid(-1, os.WNOHANG) == (0, 0)
    except ChildProcessError:
        return False

handlers = [signal.getsignal(kind) for kind in (signal.SIGINT, signal.SIGTERM)]
with Stopper() as stopper:
    os.kill(os.getpid(), signal.SIGTERM)
    print(stopper.is_stopping, has_children())
print(has_children(), handlers == [signal.getsignal(kind) for kind in (signal.SIGINT, signal.SIGTERM)])
try:
    signal.raise_signal(signal.SIGINT)
except KeyboardInterrupt:
    print("interrupted")
"""
    assert run_bounded(code).split() == ["True", "True", "False", "True", "interrupted"]


def test_a_watchdog_ends_with_a_host_that_is_killed(tmp_path: Path) -> None:
    file = tmp_path / "echo.py"
    file.write_text(ECHO)
    with serving(file, "--data", tmp_path / "data") as served:
        served.wait_url()
        served.process.kill()
        served.process.wait()
        served.err.wait_end()  # it ends when nobody holds it any more


SLOW = """
import asyncio
from agenthost.host.authoring.agent import Agent

async def count(turn):
    for number in range(int(turn.text)):
        await turn.say(f"{number} ")
        await asyncio.sleep(0.1)

async def wait(turn):
    await turn.ask("Well?")

counter = Agent("counter", count)
asker = Agent("asker", wait)
"""


@contextmanager
def turn(url: str, agent: str, text: str) -> Iterator["Future[Answer]"]:
    """Begin a turn; the future has its answer."""
    session = ask(url, "/aap/v3/sessions", "POST", body={"agent": {"name": agent}}).json["sessionId"]
    path = f"/aap/v3/sessions/{session}/turns"
    body = {"messages": [{"role": "user", "content": text}]}
    with ThreadPoolExecutor(1) as threads:
        yield threads.submit(ask, url, path, "POST", body=body)


def wait_draining(url: str) -> None:
    until = time.monotonic() + 5
    while (answer := ask(url, "/readyz")).status == 200 and time.monotonic() < until:
        time.sleep(0.02)
    assert answer.json["error"]["code"] == "draining"


def test_a_server_lets_turns_end_before_it_stops(tmp_path: Path) -> None:
    file = tmp_path / "slow.py"
    file.write_text(SLOW)
    with serving(file, "--drain", "30", "--data", tmp_path / "data", "--no-auth") as served:
        url = served.wait_url()
        with turn(url, "counter", "15") as answer:
            time.sleep(0.5)
            served.process.send_signal(signal.SIGTERM)
            wait_draining(url)
            assert ask(url, "/aap/v3/sessions").status == 200  # it still serves
            assert answer.result(20).json["stopReason"] == "end_turn"
            assert served.process.wait(10) == 0


def test_a_turn_that_takes_too_long_or_waits_for_somebody_keeps_no_server_from_stopping(
    tmp_path: Path,
) -> None:
    file = tmp_path / "slow.py"
    file.write_text(SLOW)
    for agent, drain in (("counter", "1"), ("asker", "30")):
        with (
            serving(file, "--drain", drain, "--data", tmp_path / agent, "--no-auth") as served,
            turn(served.wait_url(), agent, "900"),
        ):
            time.sleep(0.5)
            begun = time.monotonic()
            assert served.stop(signal.SIGTERM) == 0
            assert time.monotonic() - begun < 8
