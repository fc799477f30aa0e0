"""The reference MCP server, reached on pipes or by HTTP."""

import os
import signal
import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from agenthost.tools.mcp import McpServer
from peering import peer
from serving import Lines

EVERYTHING = "mcp-server-everything"
LONG = "trigger-long-running-operation"


def on_pipes(**more: Any) -> McpServer:
    """Declare the server as a program of its own."""
    return McpServer("every", command=[peer(EVERYTHING), "stdio"], **{"trusted": True, **more})


@contextmanager
def at_url(port: int = 0) -> Iterator[tuple[str, subprocess.Popen[str]]]:
    """Run the server behind a URL."""
    port = port or free_port()
    command = [peer(EVERYTHING), "streamableHttp"]
    env = {**os.environ, "PORT": str(port)}
    with subprocess.Popen(
        command, env=env, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stderr
        lines = Lines(process.stderr)
        try:
            lines.wait_for("listening on port")
            yield f"http://127.0.0.1:{port}/mcp", process
        finally:
            process.kill()
            lines.rest()


def free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        port: int = one.getsockname()[1]
        return port


def kill_on_pipes() -> int:
    """Kill the servers on pipes that this process has, at once; returns how many there were."""
    killed = 0
    for pid in _below(os.getpid()):
        command = Path(f"/proc/{pid}/cmdline").read_bytes().decode(errors="replace").split("\0")
        # The program itself, not the keeper whose arguments contain it.
        if any(EVERYTHING in word for word in command[:2]) and "stdio" in command:
            os.kill(pid, signal.SIGKILL)
            killed += 1
    return killed


def _below(pid: int) -> list[int]:
    found: list[int] = []
    for task in Path(f"/proc/{pid}/task").iterdir():
        for child in task.joinpath("children").read_text().split():
            found += [int(child), *_below(int(child))]
    return found
