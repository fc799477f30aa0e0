"""The examples of the AHP client, run as people run them."""

import subprocess
import sys
from pathlib import Path

from serving import TIMEOUT, environment

EXAMPLES = Path(__file__).parents[3] / "examples"


def output_of(name: str, *urls: str) -> list[str]:
    done = subprocess.run(
        [sys.executable, EXAMPLES / name, *urls],
        capture_output=True,
        text=True,
        check=False,
        timeout=TIMEOUT,
        env=environment(),
    )
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout.splitlines()


def test_two_clients_see_the_same(server: str) -> None:
    lines = output_of("ahp_two_clients.py", f"{server}/ahp")
    seen = [line for line in lines if line.startswith("the phone")]
    assert seen == [
        "the phone sees the title: Plans",
        "the phone sees: 'You '",
        "the phone sees: 'said: '",
        "the phone sees: 'Hello '",
        "the phone sees: 'there'",
    ]
    assert "the laptop has: You said: Hello there" in lines
    assert lines[-1] == "both have 1 turn: True"


def test_what_is_asked_over_one_protocol_is_approved_over_the_other(server: str) -> None:
    assert output_of("ahp_approve.py", f"{server}/ahp", f"{server}/aap") == [
        "over AHP: write_file wants to run",
        "over AHP: Wrote 24 characters to hello.txt.",
        "over AAP: Wrote 24 characters to hello.txt.",
    ]


def test_importing_the_client_loads_no_server() -> None:
    code = "import sys, agenthost.client.ahp; print(' '.join(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = set(done.stdout.split())
    assert not {"starlette", "uvicorn", "sqlite3", "typer", "cryptography", "agenthost.host"} & loaded
