"""How fast AHP is served, next to a bare server in the same run: `.venv/bin/python benchmarks/ahp.py`.

Starts our server as a user would, and a bare one that broadcasts the same frames with the same settings. The
load comes from another process (`ahp_load.py`), as cheap as Python can be. Only ratios count: the rates are
this machine's.
"""

import argparse
import json
import os
import pty
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
DELTAS = 2_000
REPLAYED = 100_000
IDLE = 1_000
LINES = 400_000
SHELL = f"yes 0123456789abcdef0123456789abcdef | head -n {LINES}; echo EN''D"

AGENTS = """
import asyncio, time
from agenthost.host.authoring.agent import Agent

async def answer(turn):
    count, pause = turn.text.split()
    for number in range(int(count)):
        await turn.say(f"@{time.monotonic():.6f};" if float(pause) else "hello world ")
        if float(pause):
            await asyncio.sleep(float(pause))

bench = Agent("bench", answer)
"""

CONFIG = """
[limits]
log_per_session = 1000000
log_in_all = 5000000
subscriber_items = 1000000
subscriber_bytes = 1000000000
"""


class Server:
    """A server that runs."""

    def __init__(self, process: "subprocess.Popen[str]") -> None:
        self.process = process
        assert process.stdout
        self.port = int(next(line for line in process.stdout if "listens on" in line).rpartition(":")[2])

    def cpu(self) -> float:
        """Return how much of the processor's time it has had, in seconds."""
        fields = Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def memory(self) -> int:
        """Return how much memory it has, in bytes."""
        lines = Path(f"/proc/{self.process.pid}/status").read_text().splitlines()
        return 1_024 * int(next(line for line in lines if line.startswith("VmRSS")).split()[1])


@contextmanager
def started(*command: str | Path) -> Iterator["subprocess.Popen[str]"]:
    """Run a process, and end it."""
    with subprocess.Popen(  # noqa: S603 - our own
        [*map(str, command)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        try:
            yield process
        finally:
            process.terminate()


class Load:
    """The process that makes connections."""

    def __init__(self, process: "subprocess.Popen[str]", protocol: str) -> None:
        self._process = process
        self._protocol = protocol

    def run(self, server: Server, kind: str, **plan: Any) -> Any:
        """Let it do something with a server, and return what it found."""
        assert self._process.stdin
        assert self._process.stdout
        before = server.cpu()
        self._process.stdin.write(
            json.dumps({"kind": kind, "port": server.port, "protocol": self._protocol, **plan}) + "\n"
        )
        self._process.stdin.flush()
        found = json.loads(self._process.stdout.readline())
        return {**found, "cpu": server.cpu() - before}


def deliveries(ours: Server, bare: Server, load: Load, rounds: int) -> None:
    """Measure a turn that streams to many, beside a broadcast of the same frames."""
    for count in (1, 50, 500):
        ratios, rates, costs = [], [], []
        for _ in range(rounds):
            mine = load.run(ours, "turn", connections=count, deltas=DELTAS)
            theirs = load.run(bare, "broadcast", connections=count, deltas=DELTAS)
            ratios.append(theirs["seconds"] / mine["seconds"])
            rates.append((count * DELTAS / mine["seconds"], count * DELTAS / theirs["seconds"]))
            costs.append(theirs["cpu"] / max(mine["cpu"], 0.01))
        mine_rate, their_rate = (statistics.median(each) for each in zip(*rates, strict=True))
        print(
            f"{DELTAS} deltas to {count:3}: {mine_rate:10,.0f}/s  bare {their_rate:10,.0f}/s  "
            f"ratio {statistics.median(ratios):.2f}  by processor {statistics.median(costs):.2f}"
        )


def turns(ours: Server, load: Load, rounds: int) -> None:
    """Measure short turns, one after the other on each connection."""
    for count in (1, 16, 64):
        found = [load.run(ours, "turns", connections=count, seconds=1.0) for _ in range(rounds)]
        rate = statistics.median(one["turns"] / one["seconds"] for one in found)
        cost = statistics.median(1e6 * one["cpu"] / one["turns"] for one in found)
        print(f"turns, {count:2} connections: {rate:8,.0f}/s, {cost:6,.1f} µs of processor time each")


def latency(ours: Server, load: Load) -> None:
    """Measure how long a delta takes to the last of 50 subscribers while 100 sessions stream."""
    found = load.run(ours, "latency", connections=50, sessions=100, deltas=150, pause=0.02)
    shown = "  ".join(f"{name} {found[name] * 1000:.1f} ms" for name in ("p50", "p99", "most"))
    print(f"delta to the last of 50, 100 sessions at 50/s: {shown} (goal: p99 under 50 ms)")


def replay(ours: Server, load: Load) -> None:
    """Measure coming back after very much was missed."""
    found = load.run(ours, "replay", deltas=REPLAYED)
    rate = REPLAYED / found["seconds"]
    print(f"replay of {REPLAYED:,}: {found['seconds']:.2f} s, {rate:,.0f}/s, {found['bytes']:,} bytes")


def idle(ours: Server, load: Load) -> None:
    """Measure what connections cost that do nothing."""
    load.run(ours, "hold", connections=50)
    before = ours.memory()
    load.run(ours, "hold", connections=IDLE)
    print(f"memory of an idle connection: {(ours.memory() - before) / IDLE:,.0f} bytes (goal: under 30,000)")


def terminal(ours: Server, load: Load, rounds: int) -> None:
    """Measure a terminal that prints much, beside a bare reader of a pty."""
    mine = statistics.median(load.run(ours, "terminal", line=SHELL)["seconds"] for _ in range(rounds))
    theirs = statistics.median(_read_pty() for _ in range(rounds))
    size = LINES * 34 / 1e6
    print(
        f"terminal: {size / mine:.0f} MB/s, bare pty {size / theirs:.0f} MB/s, "
        f"ratio {theirs / mine:.2f} (goal: 0.5)"
    )


def _read_pty() -> float:
    begun = time.perf_counter()
    pid, master = pty.fork()
    if pid == 0:
        os.execv("/bin/sh", ["/bin/sh", "-c", SHELL])  # noqa: S606 - our own
    try:
        while os.read(master, 65_536):
            pass
    except OSError:
        pass  # how a pty ends
    os.waitpid(pid, 0)
    os.close(master)
    return time.perf_counter() - begun


def main() -> None:
    """Measure everything, or what is named."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "what", nargs="*", help="deliveries, turns, latency, replay, idle, terminal; all, if none"
    )
    parser.add_argument("--protocol", choices=("1.0", "0.1"), default="1.0", help="what the clients speak")
    parser.add_argument("--rounds", type=int, default=3)
    given = parser.parse_args()
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        (folder / "agents.py").write_text(AGENTS)
        (folder / "config.toml").write_text(CONFIG)
        os.environ |= {"HOME": str(folder), "SHELL": "/bin/sh"}
        words = (
            "--port",
            "0",
            "--data",
            folder / "data",
            "--workspace",
            folder,
            "--log-level",
            "warning",
            "--no-auth",
        )
        command = (sys.executable, "-m", "agenthost", "serve", folder / "agents.py", *words)
        config = ("--config", folder / "config.toml")
        ours = Server(stack.enter_context(started(*command, *config)))
        bare = Server(stack.enter_context(started(sys.executable, HERE / "ahp_bare.py")))
        load = Load(stack.enter_context(started(sys.executable, HERE / "ahp_load.py")), given.protocol)
        wanted = given.what or ["deliveries", "turns", "latency", "replay", "idle", "terminal"]
        if "deliveries" in wanted:
            deliveries(ours, bare, load, given.rounds)
        if "turns" in wanted:
            turns(ours, load, given.rounds)
        if "latency" in wanted:
            latency(ours, load)
        if "replay" in wanted:
            replay(ours, load)
        if "idle" in wanted:
            idle(ours, load)
        if "terminal" in wanted:
            terminal(ours, load, given.rounds)


if __name__ == "__main__":
    main()
