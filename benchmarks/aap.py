"""How fast AAP is served, next to a bare server in the same run: `.venv/bin/python benchmarks/aap.py`.

Starts our server as a user would, with its store on disk, and a bare one that only answers. The load comes
from another process. Ours and the bare one are measured alternately, and the medians of the ratios count: the
rates are this machine's. On a busy machine the columns of CPU time say more: the bare server's divided by
ours, and ours for each.
"""

import argparse
import http.client
import json
import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, TypeAlias

HERE = Path(__file__).parent
DELTAS = 2_000
IDLE = 500
GOALS = {1: 0.6, 16: 0.3, 64: 0.3}
"""Of the bare server's rate of turns, by the number of connections."""
TOOLS = {"noop": ("read-only tool", 1.8), "once": ("tool that may not run twice", 2.3)}
"""The tools of the agent `bench-tool`, and how much more CPU time than a plain turn one with it may cost."""
GOAL_DELTAS, GOAL_BYTES = 0.15, 40_000


class Server:
    """A server that runs; `url` is where."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self.process = process
        assert process.stdout
        self.port = int(next(line for line in process.stdout if "listens on" in line).rpartition(":")[2])

    def ask(self, method: str, path: str, body: Any = None) -> Any:
        """Ask it something, and return the answer."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        connection.request(method, path, None if body is None else json.dumps(body))
        answer = connection.getresponse().read()
        connection.close()
        return json.loads(answer)

    def cpu(self) -> float:
        """Return how much of the processor's time it has had, in seconds."""
        fields = Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def memory(self) -> int:
        """Return how much memory it has, in bytes."""
        lines = Path(f"/proc/{self.process.pid}/status").read_text().splitlines()
        return 1_024 * int(next(line for line in lines if line.startswith("VmRSS")).split()[1])


@contextmanager
def started(*command: str | Path) -> Iterator[subprocess.Popen[str]]:
    """Run a process, and end it."""
    with subprocess.Popen(  # noqa: S603 - our own
        [*map(str, command)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        try:
            yield process
        finally:
            process.terminate()


class Bench:
    """Our server, the bare one, and the load."""

    def __init__(self, ours: Server, bare: Server, load: subprocess.Popen[str], seconds: float) -> None:
        self._ours = ours
        self._bare = bare
        self._load = load
        self._seconds = seconds
        self.server = ours

    def _run(self, server: Server, requests: list[str], *, stream: bool, hold: bool = False) -> Any:
        plan = {"port": server.port, "requests": requests, "stream": stream, "hold": hold}
        assert self._load.stdin
        assert self._load.stdout
        self._load.stdin.write(json.dumps({**plan, "seconds": self._seconds}) + "\n")
        self._load.stdin.flush()
        before = server.cpu()
        found = json.loads(self._load.stdout.readline())
        return {**found, "cpu": server.cpu() - before}

    def ours(self, connections: int, *, stream: bool = True, hold: bool = False, **options: int) -> Any:
        """Send turns to new sessions of ours, one on each connection."""
        agent = {"name": "bench", "options": {name: str(value) for name, value in options.items()}}
        return self._talk(agent, "Go on", connections, stream=stream, hold=hold)

    def with_tool(self, connections: int, tool: str) -> Any:
        """Send turns in which the agent calls this tool, which is trusted."""
        agent = {"name": "bench-tool", "tools": [{"name": tool, "trust": True}]}
        return self._talk(agent, tool, connections, stream=False)

    def _talk(self, agent: Any, text: str, connections: int, *, stream: bool, hold: bool = False) -> Any:
        ids = [
            self._ours.ask("POST", "/aap/sessions", {"agent": agent})["sessionId"] for _ in range(connections)
        ]
        body = {"messages": [{"role": "user", "content": text}], "stream": "delta" if stream else "none"}
        requests = [_request(f"/aap/sessions/{one}/turns", json.dumps(body)) for one in ids]
        return self._run(self._ours, requests, stream=stream, hold=hold)

    def bare(self, connections: int, path: str) -> Any:
        """Send as many to the bare server."""
        body = json.dumps({"messages": [{"role": "user", "content": "Go on"}], "stream": "delta"})
        return self._run(self._bare, [_request(path, body)] * connections, stream=path != "/turn")

    def calm(self) -> None:
        """Let go of connections that are held."""
        self._run(self._bare, [], stream=False)


def _request(path: str, body: str) -> str:
    return f"POST {path} HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-length: {len(body)}\r\n\r\n{body}"


Pairs: TypeAlias = Sequence[tuple[Any, Any]]
"""What was found of ours and of the bare server, round by round."""


def told(name: str, pairs: Pairs, what: str, goal: float | None = None) -> float:
    """Say how many of these came in a second, and return the CPU time of one in µs."""
    ours, bare = zip(*([found[what] / found["seconds"] for found in pair] for pair in pairs), strict=True)
    costs = [(mine["cpu"] / mine[what], theirs["cpu"] / theirs[what]) for mine, theirs in pairs]
    ratio = statistics.median(mine / theirs for mine, theirs in zip(ours, bare, strict=True))
    by_cpu = statistics.median(theirs / mine for mine, theirs in costs)
    each = 1e6 * float(statistics.median(mine for mine, _ in costs))
    rates = f"{statistics.median(ours):>10,.0f} {statistics.median(bare):>10,.0f}"
    aim = "" if goal is None else f"   goal {goal:g}: {'met' if ratio >= goal else 'MISSED'}"
    print(f"{name:42} {rates} {ratio:>7.3f} {by_cpu:>7.3f} {each:>8,.1f}{aim}")
    return each


def measure_turns(bench: Bench, rounds: int) -> None:
    """Whole turns of one delta, in mode `none`."""
    for connections, goal in GOALS.items():
        pairs = [
            (bench.ours(connections, stream=False), bench.bare(connections, "/turn")) for _ in range(rounds)
        ]
        told(f"turns/s, {connections} connections", pairs, "answers", goal)


def measure_tools(bench: Bench, rounds: int) -> None:
    """Measure turns with one call of a trusted tool next to turns without, in mode `none`."""
    for connections in (1, 16):
        found = [
            (bench.ours(connections, stream=False), *(bench.with_tool(connections, tool) for tool in TOOLS))
            for _ in range(rounds)
        ]
        for place, (what, goal) in enumerate(TOOLS.values(), 1):
            _tell_tool(f"{what}, {connections} connections", [(each[place], each[0]) for each in found], goal)


def _tell_tool(name: str, pairs: Pairs, goal: float) -> None:
    rate = statistics.median(mine["answers"] / mine["seconds"] for mine, _ in pairs)
    costs = [[1e6 * one["cpu"] / one["answers"] for one in pair] for pair in pairs]
    ratio = statistics.median(mine / plain for mine, plain in costs)
    each, plain = (statistics.median(side) for side in zip(*costs, strict=True))
    aim = f"goal {goal:g}: {'met' if ratio <= goal else 'MISSED'}"
    print(
        f"{name:42} {rate:>10,.0f} {'':>26} {each:>8,.1f}   {ratio:.2f} of a plain turn ({plain:,.0f}), {aim}"
    )


def measure_deltas(bench: Bench, rounds: int) -> None:
    """Delta events of long turns."""
    for connections in (1, 16):
        pairs = [
            (bench.ours(connections, deltas=DELTAS), bench.bare(connections, f"/stream?{DELTAS}"))
            for _ in range(rounds)
        ]
        told(f"deltas/s, {connections} connections", pairs, "events", GOAL_DELTAS)


def measure_firsts(bench: Bench, rounds: int) -> None:
    """Time to the first delta, in microseconds: the lower the better."""
    for connections in (1, 64):
        pairs = [(bench.ours(connections), bench.bare(connections, "/stream?1")) for _ in range(rounds)]
        middles = [[1e6 * statistics.median(found["firsts"]) for found in pair] for pair in pairs]
        ours, bare = (statistics.median(side) for side in zip(*middles, strict=True))
        print(f"{f'first delta in µs, {connections} connections':42} {ours:>10,.0f} {bare:>10,.0f}")


def measure_memory(bench: Bench) -> None:
    """Memory of streams that wait, with their sessions and all that belongs to them."""
    bench.ours(IDLE // 10)
    before = bench.server.memory()
    bench.ours(IDLE, hold=True, holdMs=3_600_000, deltas=2)
    each = (bench.server.memory() - before) / IDLE
    aim = "met" if each < GOAL_BYTES else "MISSED"
    print(f"{'bytes for a stream that waits':42} {each:>10,.0f} {'':>37} goal {GOAL_BYTES:,}: {aim}")
    bench.calm()


@contextmanager
def benched(seconds: float, sync: str) -> Iterator[Bench]:
    """Start everything anew."""
    with ExitStack() as stack, tempfile.TemporaryDirectory() as data:
        options = ("--port", "0", "--no-auth", "--data", data, "--sync", sync)
        run = started(HERE.parent / "run", "serve", HERE / "agents.py", *options)
        ours = Server(stack.enter_context(run))
        bare = Server(stack.enter_context(started(sys.executable, HERE / "bare.py")))
        load = stack.enter_context(started(sys.executable, HERE / "load.py"))
        yield Bench(ours, bare, load, seconds)


MEASURES = {
    "turns": measure_turns,
    "tools": measure_tools,
    "deltas": measure_deltas,
    "firsts": measure_firsts,
}


def main() -> None:
    """Run what is asked for, and say how it went."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=1.0)
    parser.add_argument("--only", choices=[*MEASURES, "memory"])
    parser.add_argument("--sync", choices=("normal", "full"), default="normal", help="as for `serve`")
    given = parser.parse_args()
    print(f"{'--sync ' + given.sync:42} {'ours':>10} {'bare':>10} {'ratio':>7} {'by cpu':>7} {'µs CPU':>8}")
    if given.only != "memory":
        with benched(given.seconds, given.sync) as bench:
            for name, measure in MEASURES.items():
                if given.only in (None, name):
                    measure(bench, given.rounds)
    if given.only in (None, "memory"):
        with benched(given.seconds, given.sync) as bench:  # a server that has not had more memory before
            measure_memory(bench)


if __name__ == "__main__":
    main()
