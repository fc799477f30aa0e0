"""`agenthost reduce`, run as a process: states in, states out, and a sentence for each mistake."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from agenthost.cli.reduce import MAX_LINE
from building import SESSION, in_turn, markdown, session

COMMAND = [sys.executable, "-m", "agenthost", "reduce"]


def reduce(*lines: Any) -> list[Any]:
    """Send lines to one process, as JSON unless they are text already, and return its answers."""
    texts = [line if type(line) is str else json.dumps(line) for line in lines]
    return run("".join(text + "\n" for text in texts).encode())


def run(data: bytes) -> list[Any]:
    done = subprocess.run(COMMAND, input=data, capture_output=True, timeout=60, check=True)
    assert done.stderr == b""
    return [json.loads(line) for line in done.stdout.splitlines()]


def test_each_line_is_answered_with_the_resulting_state() -> None:
    root = {"reducer": "root", "state": {"agents": []}}
    action = {"type": "root/activeSessionsChanged", "activeSessions": 2}
    terminal = {"reducer": "terminal", "state": {"title": "T", "content": []}}
    data = {"type": "terminal/data", "terminal": "t:/1", "data": "hi"}
    assert reduce(
        {**root, "action": action}, {**terminal, "actions": [data, data]}, {**root, "actions": []}
    ) == [
        {"agents": [], "activeSessions": 2},
        {"title": "T", "content": [{"type": "unclassified", "value": "hihi"}]},
        {"agents": []},
    ]


def test_now_is_the_time_in_the_line() -> None:
    rename = {"type": "session/titleChanged", "session": SESSION, "title": "New"}
    (state,) = reduce({"reducer": "session", "state": session(), "action": rename, "now": 77})
    assert (state["summary"]["title"], state["summary"]["modifiedAt"]) == ("New", 77)


def test_without_now_the_clock_is_used() -> None:
    before = int(time.time() * 1000)
    rename = {"type": "session/titleChanged", "session": SESSION, "title": "New"}
    (state,) = reduce({"reducer": "session", "state": session(), "action": rename})
    assert before <= state["summary"]["modifiedAt"] <= time.time() * 1000


def test_nulls_that_mean_absent_are_dropped_and_others_stay() -> None:
    start = session(activeClient=None, config={"schema": {}, "values": {"x": None}}, unknown=None)
    (state,) = reduce({"reducer": "session", "state": start, "action": {"type": "session/ready"}})
    assert "activeClient" not in state
    assert state["config"]["values"] == {"x": None}
    assert state["unknown"] is None


def test_missing_fields_count_as_absent() -> None:
    delta = {"type": "session/delta", "turnId": "t1", "partId": "p1", "content": "!"}
    decided = {"type": "session/toolCallConfirmed", "session": SESSION, "turnId": "t1", "toolCallId": "c"}
    (state,) = reduce(
        {"reducer": "session", "state": in_turn(markdown("p1", "Hi")), "actions": [delta, decided]}
    )
    assert state["activeTurn"]["responseParts"] == [markdown("p1", "Hi!")]


# Protocols.


def test_a_line_says_its_protocol() -> None:
    data = {"type": "terminal/exited", "exitCode": 1}
    line = {"reducer": "terminal", "state": {"title": "T"}, "action": data}
    old, named, new = reduce(line, {**line, "protocol": "0.1"}, {**line, "protocol": "1.0"})
    assert old == named == {"title": "T", "exitCode": 1}
    assert new == {"title": "T", "lifecycle": {"status": "exited", "exitCode": 1}}


def test_a_chat_is_reduced_without_a_clock() -> None:
    actions = [
        {"type": "chat/turnStarted", "turnId": "t", "startedAt": "2026-01-01T00:00:00.000Z", "message": {}},
        {"type": "chat/turnComplete", "turnId": "t", "duration": 1500},
    ]
    (state,) = reduce({"protocol": "1.0", "reducer": "chat", "state": {"turns": []}, "actions": actions})
    assert state["modifiedAt"] == "2026-01-01T00:00:01.500Z"


KINDS = (
    *("root", "session", "chat", "terminal", "changeset", "resourceWatch", "annotations"),
    *("automation", "automationRun", "canvas"),
)


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_resource_has_its_reducer(kind: str) -> None:
    line = {"protocol": "1.0", "reducer": kind, "state": {"x": 1}, "action": {"type": f"{kind}/new"}}
    assert reduce(line) == [{"x": 1}]


# Mistakes.

ROOT = {"reducer": "root", "state": {"agents": []}}


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        ("", "not JSON: Input data was truncated"),
        ("{]", "not JSON: JSON is malformed: object keys must be strings (byte 1)"),
        ("[]", "$: expected an object (Line), found a list"),
        ("[" * 100_000, "nested deeper than 96 levels"),
        ({"state": {}, "action": {}}, "$.reducer: expected 'root' or 'session' or 'terminal', found nothing"),
        ({**ROOT, "reducer": "r"}, "$.reducer: expected 'root' or 'session' or 'terminal', found 'r'"),
        ({**ROOT, "protocol": "2.0"}, "$.protocol: expected '0.1' or '1.0', found '2.0'"),
        ({**ROOT, "protocol": 1}, "$.protocol: expected '0.1' or '1.0', found the number 1"),
        (
            {**ROOT, "protocol": "1.0", "reducer": "chats"},
            f"$.reducer: expected {' or '.join(map(repr, KINDS))}, found 'chats'",
        ),
        (
            {"protocol": "1.0", "reducer": "chat", "state": {"turns": 1}, "actions": []},
            "$.state.turns: expected a list, found the number 1",
        ),
        ({"reducer": "root", "actions": []}, "$.state: expected an object, found nothing"),
        ({**ROOT, "state": 5, "actions": []}, "$.state: expected an object, found the number 5"),
        (ROOT, "$: expected either `action` or `actions`, found neither"),
        (
            {**ROOT, "action": {"type": "a"}, "actions": []},
            "$: expected either `action` or `actions`, found both",
        ),
        ({**ROOT, "actions": {}}, "$.actions: expected a list, found an object"),
        ({**ROOT, "action": {}}, "$.action.type: expected a string, found nothing"),
        ({**ROOT, "actions": [{"type": 7}]}, "$.actions[0].type: expected a string, found the number 7"),
        ({**ROOT, "action": {"type": "a"}, "now": "x"}, "$.now: expected a number, found a string"),
        (
            {**ROOT, "state": {"agents": [{"models": [{"id": 1}]}]}, "actions": []},
            "$.state.agents[0].models[0].id: expected a string, found the number 1",
        ),
        (
            {
                "reducer": "session",
                "state": session(),
                "action": {"type": "session/delta", "content": None, "turnId": 1},
            },
            "$.action.turnId: expected a string, found the number 1",
        ),
    ],
)
def test_a_bad_line_is_answered_with_what_is_wrong_and_where(line: Any, sentence: str) -> None:
    good = {**ROOT, "actions": []}
    assert reduce(line, good) == [{"error": sentence}, {"agents": []}]


def test_bytes_that_are_not_utf8_are_refused() -> None:
    (answer,) = run(b'{"reducer": "\xff"}\n')
    assert answer == {"error": "not JSON: a string is not valid UTF-8"}


def test_a_line_that_is_too_long_is_refused_and_the_next_is_answered() -> None:
    good = json.dumps({**ROOT, "actions": []}).encode()
    answers = run(b" " * (MAX_LINE + 10) + b"\n" + good + b"\n" + b"x" * MAX_LINE + b"yz")
    assert answers == [
        {"error": f"the line is larger than {MAX_LINE} bytes"},
        {"agents": []},
        {"error": f"the line is larger than {MAX_LINE} bytes"},
    ]


def test_a_file_can_be_read_instead_of_standard_input(tmp_path: Path) -> None:
    file = tmp_path / "log.jsonl"
    file.write_text(json.dumps({**ROOT, "actions": []}))
    done = subprocess.run([*COMMAND, str(file)], capture_output=True, check=True)
    assert json.loads(done.stdout) == {"agents": []}


def test_each_answer_is_written_before_the_next_line_is_read() -> None:
    with subprocess.Popen(COMMAND, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdin
        assert process.stdout
        for count in (1, 2):
            action = {"type": "root/activeSessionsChanged", "activeSessions": count}
            process.stdin.write(json.dumps({**ROOT, "action": action}).encode() + b"\n")
            process.stdin.flush()
            assert json.loads(process.stdout.readline())["activeSessions"] == count


def test_ctrl_c_exits_without_a_traceback() -> None:
    with subprocess.Popen(
        COMMAND, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        assert process.stdin
        assert process.stdout
        process.stdin.write(json.dumps({**ROOT, "actions": []}).encode() + b"\n")
        process.stdin.flush()
        process.stdout.readline()
        os.kill(process.pid, signal.SIGINT)
        _, complaint = process.communicate(timeout=30)
        assert (process.returncode, complaint) == (130, b"")


def test_a_reader_that_stops_ends_it_quietly() -> None:
    line = json.dumps({**ROOT, "actions": []}).encode() + b"\n"
    with subprocess.Popen(
        COMMAND, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        assert process.stdout
        process.stdout.close()
        _, complaint = subprocess.Popen.communicate(process, line * 10, timeout=30)
        assert (process.returncode, complaint) == (0, b"")
