"""The harness: lets the driver live, kills it at some moment, checks what it left, and lets it live again."""

import json
import random
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path

from crash.checks import Checker, Found, Seen, Wrong, demand
from crash.driver import NOTES, Orders
from crash.faults import Fault
from crash.places import Folder, Place
from crash.plan import SessionPlan, plan_session

WORKERS = 6
LONGEST_LIFE = 60.0
MARKS = (
    *("toolCallReady", "toolCallConfirmed", "toolCallStart", "toolCallComplete", "toolCallDelta"),
    *("turnStarted", "turnComplete", "inputRequested", "inputCompleted", "pendingMessageSet", "truncated"),
    *("turnCancelled", "toolCallContentChanged", "reasoning", "modelChanged", "made", "durable", "refused"),
)
"""Words in the reports: the moments right after them are worth a kill."""


@dataclass(frozen=True, slots=True)
class Death:
    """When a life ends: after so many seconds, or after so many lines (with this word) and a moment.

    For its line it does not `wait` longer than that, from the first line on: a word may never come.
    """

    seconds: float | None = None
    lines: int = 0
    mark: str = ""
    later: float = 0.0
    wait: float = 1.0


def draw_death(chance: random.Random, *, is_slow: bool = False) -> Death:
    """Draw a moment: while it starts, somewhere in the middle, or right after something.

    A host that `is_slow`, as it waits for a model, is given more time, and none is lost on its start.
    """
    wait = 10.0 if is_slow else 1.0
    match chance.randrange(1 if is_slow else 0, 4):
        case 0:
            return Death(seconds=chance.uniform(0, 0.8))
        case 1:
            return Death(lines=1 + int(3_000 ** chance.random()), later=chance.choice((0, 0.002)), wait=wait)
        case _:
            later = chance.choice((0, 0, 0.001, 0.003, 0.01))
            lines = 1 + int(12 ** chance.random())
            return Death(lines=lines, mark=chance.choice(MARKS), later=later, wait=wait)


@dataclass(slots=True)
class Summary:
    """What came of a run."""

    kills: int = 0
    envelopes: int = 0
    sessions: int = 0
    chats: int = 0
    faults: int = 0
    found: Found = field(default_factory=Found)
    told: list[str] = field(default_factory=list)

    def __str__(self) -> str:
        turns = ", ".join(f"{count:,} {state}" for state, count in sorted(self.found.turns.items()))
        return (
            f"{self.kills} kills, {self.sessions:,} sessions, {self.chats:,} further chats, turns: {turns}; "
            f"{self.envelopes:,} envelopes, {len(self.found.interrupted)} tools interrupted and told, "
            f"{self.faults} faults of the disk"
        )


class Harness:
    """Many lives on one folder."""

    def __init__(
        self, folder: Path, seed: int, service: str | None = None, place: Place | None = None
    ) -> None:
        self._folder = folder
        self._place = Folder(folder) if place is None else place
        self._service = service
        self._seed = seed
        self._chance = random.Random(seed)  # noqa: S311 - to be drawn again
        self._seen = Seen()
        self._checker = Checker()
        self._summary = Summary()

    def run(
        self, kills: int, *, faults: float = 0.0, progress: Callable[[str], None] | None = None
    ) -> Summary:
        """Kill so often, then let it finish; `faults` is how many of the lives have a fault of the disk.

        Raises:
            Wrong: with the seed and the number of the kill.
        """
        for kill in range(1, kills + 1):
            is_faulty = self._chance.random() < faults
            with self._named(f"kill {kill}"):
                death = draw_death(self._chance, is_slow=self._service is not None)
                self.live(death, self.draw_fault() if is_faulty else None)
                self._check_copy()
            if progress is not None and kill % 10 == 0:
                progress(
                    f"{kill} of {kills} kills, {self._shown()} envelopes, {self._finished()} sessions done"
                )
        with self._named("the last life"):
            self.finish()
        return self._summary

    def finish(self) -> Summary:
        """Let it live undisturbed until every session is done, and check that all is as planned."""
        until = self._until()
        self.live(None, until=until)
        self._check_end(self._plans(until))
        return self._summary

    def draw_fault(self) -> Fault:
        """Draw a fault of the disk."""
        kind = self._chance.choice(("full", "limit", "lock"))
        return Fault(kind, after=self._chance.uniform(0, 0.3), seconds=self._chance.uniform(0, 0.5))

    @contextmanager
    def _named(self, when: str) -> Iterator[None]:
        try:
            yield
        except Wrong as wrong:
            raise Wrong(f"seed {self._seed}, {when}: {wrong}") from wrong

    def _shown(self) -> int:
        return sum(map(len, self._seen.shown.values()))

    def _finished(self) -> int:
        return len(self._seen.finished)

    # Lives

    def live(self, death: Death | None, fault: Fault | None = None, until: int | None = None) -> None:
        """Let the driver live until its death; without one, until it is done."""
        finished = self._numbers_finished()
        orders = Orders(
            self._seed, WORKERS, self._seen.last(), finished, until, fault, self._service, self._place.url
        )
        with (self._folder / "stderr.txt").open("wb") as errors:
            process = subprocess.Popen(
                [sys.executable, "-m", "crash.driver", str(self._folder)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=errors,
                cwd=Path(__file__).parents[1],
            )
        with process:
            assert process.stdin
            process.stdin.write(json.dumps(asdict(orders)).encode() + b"\n")
            process.stdin.close()
            is_done = self._watch(process, death)
        if death is None or process.returncode > 0:
            demand(is_done and process.returncode == 0, "the driver failed:", self._stuck(), self._errors())
        self._summary.kills += process.returncode < 0
        self._summary.faults += fault is not None

    def _stuck(self) -> str:
        """Say where those sessions are that are not finished."""
        stuck = [uri for uri in self._seen.made if uri not in self._seen.finished]
        return "\n".join(f"{uri}: {self._seen.shown.get(uri, [None])[-1]!r}" for uri in sorted(stuck))

    def _errors(self) -> str:
        return "\n" + (self._folder / "stderr.txt").read_text()[:4_000]

    def _watch(self, process: subprocess.Popen[bytes], death: Death | None) -> bool:
        """Read the reports; kill when it is time. Tells whether the driver was done."""
        assert process.stdout
        killer = _Killer(process, death)
        is_done = False
        for line in process.stdout:
            if line.endswith(b"\n"):  # else it was cut off by the kill
                is_done = is_done or line == b"done\n"
                self._take(line)
                killer.look_at(line)
        process.wait()
        killer.rest()
        return is_done

    def _take(self, line: bytes) -> None:
        """Take in what the driver reports."""
        word, _, rest = line[:-1].partition(b" ")
        seen = self._seen
        match word:
            case b"shown":
                self._take_shown(rest)
            case b"refused":
                uri, seq, envelope = _entry(rest)
                demand(seen.refused.setdefault(uri, {}).setdefault(seq, envelope) == envelope, line)
            case b"made":
                seen.made.add(rest.decode())
            case b"durable":
                seen.durable = max(seen.durable, int(rest))
            case b"finished":
                seen.finished.add(rest.decode())
            case b"trouble" | b"told" | b"over":
                self._summary.told.append(line.decode())

    def _take_shown(self, rest: bytes) -> None:
        uri, seq, envelope = _entry(rest)
        shown = self._seen.shown.setdefault(uri, [])
        demand(not shown or seq > shown[-1][0], uri, "was shown", seq, "after", shown and shown[-1][0])
        shown.append((seq, envelope))
        self._summary.envelopes += 1

    # Checks

    def _numbers_finished(self) -> list[int]:
        numbers = range(self._until())
        return [number for number in numbers if self._plan(number).uri in self._seen.finished]

    def _plan(self, number: int) -> SessionPlan:
        return plan_session(self._seed, number, with_model=self._service is not None)

    def _until(self) -> int:
        """Return the first number of a session that was not begun by anybody."""
        numbers = [int(uri.partition(":/")[2].rstrip("cf")) for uri in self._seen.made]
        return max(numbers, default=0) + WORKERS + 1

    def _check_copy(self) -> None:
        """Check a copy, so that the next life finds the store just as the kill left it."""
        with self._place.copied() as storage:
            plans = [plan for plan in self._plans(self._until()) if plan.uri not in self._seen.finished]
            self._checker.check(storage, self._folder / NOTES, self._seen, plans, at_end=False)

    def _check_end(self, plans: list[SessionPlan]) -> None:
        notes = self._folder / NOTES
        found = self._checker.check(self._place.store(), notes, self._seen, plans, at_end=True)
        self._summary.found = found
        self._summary.chats = chats = sum(plan.home is not None for plan in plans)
        self._summary.sessions = len(self._seen.finished) - chats
        planned = {plan.uri for plan in plans}
        demand(self._seen.finished == planned, "not finished:", planned ^ self._seen.finished)
        self._place.check()

    def _plans(self, until: int) -> list[SessionPlan]:
        plans = [self._plan(number) for number in range(until)]
        return [one for plan in plans for one in (plan, plan.fork, plan.chat) if one is not None]


class _Killer:
    """Kills a process when it is time."""

    def __init__(self, process: subprocess.Popen[bytes], death: Death | None) -> None:
        self._process = process
        self._death = death
        self._left = 0 if death is None else death.lines
        self._is_first = death is not None and death.seconds is None
        self._timer = self._set(LONGEST_LIFE if death is None or death.seconds is None else death.seconds)

    def _set(self, seconds: float) -> threading.Timer:
        timer = threading.Timer(seconds, self._process.kill)
        timer.start()
        return timer

    def look_at(self, line: bytes) -> None:
        """See whether this is the line to kill at."""
        death = self._death
        if death is None:
            return
        if self._is_first:
            self._is_first = False
            self._timer.cancel()
            self._timer = self._set(death.wait)
        if self._left > 0 and death.mark.encode() in line:
            self._left -= 1
            if self._left == 0:
                time.sleep(death.later)
                self._process.kill()

    def rest(self) -> None:
        """Kill no more."""
        self._timer.cancel()


def _entry(rest: bytes) -> tuple[str, int, bytes]:
    uri, seq, envelope = rest.split(b" ", 2)
    return uri.decode(), int(seq), envelope
