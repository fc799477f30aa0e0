"""Secrets of the environment: Python in the host has them, and no other process can read them."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from agenthost.client.ahp import AhpClient
from hosting import run
from serving import environment, serving, wait_ready

LINUX = pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")

SECRETS = {
    "OPENAI_API_KEY": "sk-one",
    "SOME_SERVICE_TOKEN": "sk-two",
    "DATABASE_URL": "postgres://user:sk-three@db/x",
    "aws_secret_access_key": "sk-four",
    "ODD": "sk-five",
}

SCRIPT = """
import os, subprocess
from agenthost.host.sandbox.environment import hide_secrets, forbid_inspection
hide_secrets(["ODD", "NOT_SET"])
forbid_inspection()
print(",".join(os.environ[name] for name in sorted(os.environ) if "sk-" in os.environ[name]))
print(subprocess.run(["env"], capture_output=True, text=True).stdout.count("sk-"), os.environ["KEPT"])
print(open(f"/proc/{os.getpid()}/environ").read().count("sk-"))
print(subprocess.run("echo $KEPT", shell=True, capture_output=True, text=True).stdout.strip(), flush=True)
input()
"""

AGENT = """
import os
from agenthost import Host, Turn

host = Host()

@host.agent("teller")
async def teller(turn: Turn) -> None:
    await turn.say(os.environ["OPENAI_API_KEY"])
"""


@LINUX
def test_python_keeps_secrets_and_neither_children_nor_neighbours_see_them() -> None:
    process = subprocess.Popen(
        [sys.executable, "-c", SCRIPT],
        env=environment(KEPT="kept", **SECRETS),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    with process:
        assert process.stdout
        lines = [process.stdout.readline().strip() for _ in range(4)]
        assert sorted(lines[0].split(",")) == sorted(SECRETS.values())
        assert lines[1:] == ["0 kept", "0", "kept"]
        assert "sk-" not in environ_of(process.pid)
        assert "KEPT=kept" in environ_of(process.pid)
        process.communicate("\n")


def environ_of(pid: int) -> str:
    return Path(f"/proc/{pid}/environ").read_text()


@LINUX
def test_a_served_agent_has_its_key_and_a_shell_beside_it_finds_it_nowhere(tmp_path: Path) -> None:
    (tmp_path / "teller.py").write_text(AGENT)
    words = (tmp_path / "teller.py", "--data", tmp_path / "data", "--workspace", tmp_path, "--sandbox", "off")
    with serving(*words, OPENAI_API_KEY="sk-from-outside") as served:
        url = served.wait_url()
        wait_ready(url)
        assert "sk-from-outside" not in environ_of(served.process.pid)

        async def story() -> None:
            async with AhpClient(f"{url.replace('http', 'ws', 1)}/ahp") as client:
                session = await client.create("teller")
                assert await session.ask("Hi") == "sk-from-outside"

        run(story)
        # What a shell of the host could do, and every other process of the same user.
        look = "cat /proc/$1/environ /proc/$1/task/*/environ"
        looking = ["sh", "-c", look, "sh", str(served.process.pid)]
        looked = subprocess.run(looking, capture_output=True, check=False, env={"PATH": os.environ["PATH"]})
        assert b"sk-from-outside" not in looked.stdout
        assert b"PATH=" in looked.stdout
        assert served.stop(signal.SIGTERM) == 0
