"""The process that servers are forked from: all is imported once, so that a life begins in a moment.

Started with `recorder.c` preloaded. Each line on the standard input is a life: the server is started, as
`agenthost serve` does it, and what becomes of it is told on the standard output: `began PID`, what the server
prints, and `ended PID`.
"""

import ctypes
import json
import os
import sys
from pathlib import Path
from typing import Any

from agenthost.cli.agent_files import load_agents
from agenthost.cli.serve import run

AGENTS = str(Path(__file__).with_name("teller.py"))


def live(orders: dict[str, Any]) -> None:
    """Record what is written, and serve until the end."""
    recorder = ctypes.CDLL(None)
    recorder.power_begin(os.fsencode(orders["data"]), os.fsencode(orders["log"]))
    options = {"data": orders["data"], "port": "0", "sync": orders["sync"], "workspace": orders["workspace"]}
    # Without keys there are no owners: what an owner sees of the root is counted anew for each connection.
    run([AGENTS], {**options, "log_level": "warning", "no_auth": True})


def main() -> None:
    """Fork a server for each line."""
    load_agents([AGENTS], None, [])  # what that imports is imported for all
    for line in sys.stdin:
        pid = os.fork()
        if pid == 0:
            live(json.loads(line))
            os._exit(0)
        print(f"began {pid}", flush=True)
        _, status = os.waitpid(pid, 0)
        print(f"ended {pid} {status}", flush=True)


if __name__ == "__main__":
    main()
