"""One client on standard input and output, and the log of what is said."""

import json
import signal
import stat
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from agenthost.wire.ahp.legacy import ROOT_URI
from ahp_frames import Ears
from rules import rule
from serving import TIMEOUT, environment, run_serve

NOISY = """
from agenthost.host.authoring.agent import Agent

print("a line of somebody else")

async def answer(turn):
    print("another line")
    await turn.say(turn.text)

needed = {"resource": "https://api.example.org", "required": False}
noisy = Agent("noisy", answer, protected_resources=[needed])
"""


class Piped:
    """A client on a pipe."""

    def __init__(self, process: "subprocess.Popen[str]") -> None:
        self.process = process
        self.ears = Ears("me")
        self._ids = 0

    def say(self, text: str) -> None:
        assert self.process.stdin
        self.process.stdin.write(text + "\n")
        self.process.stdin.flush()

    def hear(self) -> Any:
        assert self.process.stdout
        message = json.loads(self.process.stdout.readline())
        self.ears.take(message)
        return message

    def ask(self, method: str, /, **params: Any) -> Any:
        self._ids += 1
        self.say(json.dumps({"jsonrpc": "2.0", "id": self._ids, "method": method, "params": params}))
        while True:
            message = self.hear()
            if message.get("id") == self._ids:
                for snapshot in (message.get("result") or {}).get("snapshots", []):
                    self.ears._floors[snapshot["resource"]] = snapshot["fromSeq"]
                return message


@contextmanager
def piped(*words: str | Path) -> Iterator[Piped]:
    command = [sys.executable, "-m", "agenthost", "serve", "--stdio", *map(str, words)]
    streams = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
    with subprocess.Popen(command, text=True, env=environment(), **streams) as process:  # type: ignore[call-overload]
        try:
            yield Piped(process)
        finally:
            process.kill()


@rule("HR-T01", "HR-T02")
def test_a_client_on_a_pipe_is_served_and_gets_only_the_protocol(tmp_path: Path) -> None:
    file, log = tmp_path / "noisy.py", tmp_path / "wire.jsonl"
    file.write_text(NOISY)
    with piped(file, "--data", tmp_path / "data", "--wire-log", log) as me:
        assert me.ask("ping")["result"] is None
        me.say("")
        me.say("nonsense")
        assert me.hear()["error"]["code"] == -32700
        begin = {"protocolVersions": ["0.1.0"], "clientId": "me", "initialSubscriptions": [ROOT_URI]}
        opened = me.ask("initialize", **begin)
        assert opened["result"]["snapshots"][0]["state"]["agents"][0]["provider"] == "noisy"
        me.ask("authenticate", resource="https://api.example.org", token="very-secret")  # noqa: S106
        me.ask("createSession", session="noisy:/1")
        me.ears._floors["noisy:/1"] = 0
        me.ask("subscribe", resource="noisy:/1")
        turn = {"type": "session/turnStarted", "session": "noisy:/1", "turnId": "t"}
        params = {"clientSeq": 1, "action": {**turn, "userMessage": {"text": "Hi"}}}
        me.say(json.dumps({"jsonrpc": "2.0", "method": "dispatchAction", "params": params}))
        while me.hear().get("params", {}).get("action", {}).get("type") != "session/turnComplete":
            pass
        assert me.process.stdin
        me.process.stdin.close()
        assert me.process.wait(TIMEOUT) == 0
    lines = [json.loads(line) for line in log.read_text().splitlines()]
    assert {line["direction"] for line in lines} == {"in", "out"}
    assert {"text": "nonsense\n"}.items() <= lines[2].items()
    assert '"token":"***"' in log.read_text()
    assert "very-secret" not in log.read_text()
    assert stat.S_IMODE(log.stat().st_mode) == 0o600


@rule("HR-I05")
def test_a_client_on_a_pipe_with_another_version_is_refused(tmp_path: Path) -> None:
    with piped("--data", tmp_path) as me:
        refused = me.ask("initialize", protocolVersions=["7.0.0"], clientId="me")
        assert refused["error"]["code"] == -32005
        assert me.process.stdout
        assert me.process.stdout.read() == ""
        assert me.process.wait(TIMEOUT) == 0


@rule("HR-T01")
def test_a_server_on_a_pipe_can_be_stopped(tmp_path: Path) -> None:
    with piped("--data", tmp_path) as me:
        me.ask("initialize", protocolVersions=["0.1.0"], clientId="me")
        me.process.send_signal(signal.SIGTERM)
        assert me.process.wait(TIMEOUT) == 0


@rule("HR-T01")
def test_a_wire_log_that_cannot_be_written_is_reported_at_the_start(tmp_path: Path) -> None:
    ended = run_serve("--data", tmp_path, "--port", "0", "--wire-log", tmp_path / "no" / "where")
    assert ended.returncode == 1
    assert "cannot write to" in ended.stderr


@rule("HR-R01")
@pytest.mark.parametrize("is_file", [True, False])
def test_requests_from_before_the_end_of_the_input_are_answered(tmp_path: Path, *, is_file: bool) -> None:
    opening = {"protocolVersions": ["0.1.0"], "clientId": "a script"}
    asked = [
        {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": opening},
        {"jsonrpc": "2.0", "id": 2, "method": "listSessions"},
    ]
    lines = "".join(json.dumps(one) + "\n" for one in asked)
    (tmp_path / "asked.jsonl").write_text(lines)
    command = [sys.executable, "-m", "agenthost", "serve", "--stdio", "--data", str(tmp_path / "data")]
    with (tmp_path / "asked.jsonl").open() as file:
        given: Any = {"stdin": file} if is_file else {"input": lines}
        told = subprocess.run(
            command,
            stdout=subprocess.PIPE,
            text=True,
            timeout=TIMEOUT,
            check=True,
            env=environment(),
            **given,
        )
    assert [json.loads(line)["id"] for line in told.stdout.splitlines()] == [1, 2]
