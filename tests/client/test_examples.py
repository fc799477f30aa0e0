"""The examples of the client, run as people run them."""

import subprocess
import sys
from pathlib import Path

from serving import TIMEOUT, environment

EXAMPLES = Path(__file__).parents[2] / "examples"


def output_of(name: str, server: str, typed: str = "") -> list[str]:
    done = subprocess.run(
        [sys.executable, EXAMPLES / name, f"{server}/aap"],
        input=typed,
        capture_output=True,
        text=True,
        check=False,
        timeout=TIMEOUT,
        env=environment(),
    )
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout.splitlines()


def test_an_application_brings_its_own_tool(server: str) -> None:
    assert output_of("aap_app.py", server) == [
        "count -> 12",
        "count -> we do not sell kiwis",
        "[add]",
        "add -> 42",
    ]


def test_a_person_is_asked_for_permission(server: str) -> None:
    question = (
        "The agent wants to run write_file with {'path': 'hello.txt', 'text': 'Hello from an agent'}. "
        "Let it? [y/N] "
    )
    assert output_of("aap_permission.py", server, "y\n") == [
        f"{question}yes",
        "Wrote 19 characters to hello.txt.",
        "ended with end_turn",
    ]
    assert output_of("aap_permission.py", server, "\n") == [
        f"{question}no",
        "Tool call denied: the user said no",
        "ended with end_turn",
    ]


def test_a_program_without_an_event_loop_returns_to_its_session(server: str) -> None:
    assert output_of("aap_sync.py", server) == [
        "YOU SAID: GOOD MORNING",
        "YOU SAID: GOOD NIGHT",
        "user: Good morning",
        "assistant: YOU SAID: GOOD MORNING",
        "user: Good night",
        "assistant: YOU SAID: GOOD NIGHT",
    ]
