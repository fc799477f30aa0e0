"""Attacks on everybody's time: what a repository, a model or a tool can do to the process itself."""

import asyncio
import http.client
import json
import signal
import subprocess
import time
from contextlib import suppress
from typing import Any

from attack.stage import GaveWay, NotStarted, Stage, Target, hold
from serving import Served

PATTERN = "*a*a*a*a*a*a*a*a*b"
ANSWER_SECONDS = 5.0
"""How long an answer may take meanwhile, on a machine that does other things too."""

STOP_SECONDS = 9.0
GRACE_SECONDS = 3.0
CRASHED = "hostCrashed"
MAX_CRASHES = 3
MAX_STARTS = 6
LIFE_SECONDS = 5.0
"""How long a server has to live until the turn counts as not run again: it kills after half a second."""


def patterns(stage: Stage) -> str:
    """Have patterns matched and texts compared that are made to be slow."""
    (stage.workspace / ".gitignore").write_text(f"{PATTERN}\n")
    (stage.workspace / ("a" * 250)).touch()
    (stage.workspace / "large.txt").write_text("x = [1, 2, 3]\n" * 300_000)
    key = stage.key("ann")
    with stage.serve() as target, target.pulse() as pulse:
        session = target.session("caller", key, "list_files")
        answer = target.turn(session, f"list_files {json.dumps({'glob': PATTERN})}", key)
        hold("done" in str(answer), f"files were not listed: {answer}")
        asyncio.run(_complete_and_edit(target, key))
    return pulse.check(ANSWER_SECONDS)


async def _complete_and_edit(target: Target, key: str) -> None:
    async with target.client(key) as client:
        uri = await client.begun("caller:/edit", provider="caller")
        await client.request("completions", kind="userMessage", session=uri, text="@a", offset=2)
        edit = {"path": "large.txt", "old": "x = [1, 2, 3]\n" * 2_800 + "y", "new": ""}
        turn = await client.send(uri, f"edit_file {json.dumps(edit)}")
        asked = await client.hear_kind("session/toolCallReady")
        ids = {"turnId": turn, "toolCallId": asked["toolCallId"]}
        await client.decide(uri, "session/toolCallConfirmed", **ids, approved=False, reason="denied")
        await client.finish(uri, turn)


def held_interpreter(stage: Stage) -> str:
    """Hold the interpreter, and tell the server to stop."""
    key = stage.key("ann")
    with stage.serve() as target:
        session = target.session("caller", key, "freeze")
        _begin(target.url, session, "freeze", key)
        target.served.out.wait_for("frozen")
        begun = time.monotonic()
        target.served.process.send_signal(signal.SIGTERM)
        try:
            target.served.process.wait(STOP_SECONDS + GRACE_SECONDS)
        except subprocess.TimeoutExpired:
            raise GaveWay("it is still there") from None
        return f"ended after {time.monotonic() - begun:.1f} s"


def poison_turn(stage: Stage) -> str:
    """Kill the process from inside of a turn, and start it again and again."""
    key = stage.key("ann")
    with stage.serve() as target:
        session = target.session("caller", key, "kill")
        _begin(target.url, session, "kill", key)
        _wait_death(target.served)
    for deaths in range(1, MAX_STARTS):
        stage.tell(f"start {deaths + 1}")
        with suppress(NotStarted, OSError), stage.serve() as target:
            if not _wait_death(target.served, seconds=LIFE_SECONDS):
                hold(deaths == MAX_CRASHES, f"it lived on after {deaths} deaths")
                hold(CRASHED in str(asyncio.run(_turns(target, key))), "the turn did not end with that error")
                spoken = target.turn(target.session("caller", key, "list_files"), "list_files", key)
                hold("done" in str(spoken), f"other turns do not go on: {spoken}")
                return f"{deaths} deaths, then it lived on"
    raise GaveWay(f"the turn was run again at each of {MAX_STARTS} starts")


async def _turns(target: Target, key: str) -> list[Any]:
    async with target.client(key) as client:
        (item,) = (await client.request("listSessions"))["items"]
        return list((await client.subscribe(item["resource"]))["turns"])


def _begin(url: str, session: str, text: str, key: str) -> None:
    """Begin a turn that ends the connection, or is not waited for."""
    body = json.dumps({"messages": [{"role": "user", "content": text}], "stream": "delta"})
    connection = http.client.HTTPConnection(url.removeprefix("http://"), timeout=5)
    with suppress(OSError, http.client.HTTPException):
        connection.request(
            "POST", f"/aap/sessions/{session}/turns", body, headers={"Authorization": f"Bearer {key}"}
        )
        connection.getresponse()


def _wait_death(served: Served, seconds: float = 20) -> bool:
    """Wait until the process has ended; tells whether it has."""
    try:
        served.process.wait(seconds)
    except subprocess.TimeoutExpired:
        return False
    return True
