"""How fast the reducers are, of AHP 1.0 and of 0.1.0: `.venv/bin/python benchmarks/reducers.py`.

Rates are the best of several runs. The runs alternate, so that a noisy machine disturbs all alike, and only
the ratios within one run count. Exits with 1 if a goal is missed.
"""

import argparse
import gc
import sys
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from typing import Any

import msgspec

from agenthost.core.legacy import reducers as legacy
from agenthost.core.reducers import Live, reduce_chat
from agenthost.wire.ahp.actions.text import ChatDelta, decode_action
from agenthost.wire.ahp.legacy.actions import text as legacy_text
from agenthost.wire.json import encode_json
from sample import chatting, streaming

GOAL_RATIO = 0.35
GOAL_GROWTH = 1.3

SHORT, LONG = 2_000, 200_000
CALLS = 50

URI = "demo:/benchmark"


def fold_legacy(live: Live[Any], actions: Iterable[Any]) -> Any:
    """Reduce the actions of a session of 0.1.0, and read the state once at the end."""
    for action in actions:
        live = legacy.reduce_session(live, action, 1)
    return live.state


def fold(live: Live[Any], actions: Iterable[Any]) -> Any:
    """Reduce the actions of a chat of 1.0, and read the state once at the end."""
    for action in actions:
        live = reduce_chat(live, action)
    return live.state


@dataclass(frozen=True)
class Version:
    """What the measurements need of a version of AHP."""

    name: str
    start: Callable[[], Any]
    delta: Callable[[str], Any]
    decode: Callable[[bytes], Any]
    fold: Callable[[Live[Any], Iterable[Any]], Any]
    scope: str
    message: str

    def deltas(self, count: int) -> list[Any]:
        """Return the deltas of a turn, no two alike."""
        return [self.delta(f"word {place} ") for place in range(count)]

    def reduce(self, actions: Iterable[Any]) -> Any:
        """Reduce actions that are decoded already."""
        return self.fold(Live(self.start()), actions)

    def decode_and_reduce(self, lines: list[bytes]) -> Any:
        """Decode, check and reduce."""
        return self.reduce(map(self.decode, lines))

    def calls(self) -> list[Any]:
        """Return a turn with many tool calls, from its start to its end."""
        turn = [
            self.act("turnStarted", startedAt="2026-01-01T00:00:00.000Z", **{self.message: {"text": "Go"}})
        ]
        for number in range(CALLS):
            call = {"toolCallId": f"c{number}"}
            result = {"success": True, "pastTenseMessage": "Listed", "content": []}
            turn += [
                self.act("toolCallStart", **call, toolName="ls", displayName="List"),
                self.act("toolCallDelta", **call, content='{"path": "."}'),
                self.act("toolCallReady", **call, invocationMessage="Listing", confirmed="not-needed"),
                self.act("toolCallComplete", **call, result=result),
            ]
        return [*turn, self.act("turnComplete", duration=1_000)]

    def act(self, name: str, **fields: Any) -> Any:
        """Return one action on the turn."""
        return {"type": f"{self.scope}/{name}", "turnId": "t1", **fields}


OLD = Version(
    "0.1.0",
    lambda: streaming(URI),
    lambda words: legacy_text.SessionDelta(URI, "t1", "p1", words),
    legacy_text.decode_action,
    fold_legacy,
    "session",
    "userMessage",
)
NEW = Version(
    "1.0",
    lambda: chatting(URI),
    lambda words: ChatDelta("t1", "p1", words),
    decode_action,
    fold,
    "chat",
    "message",
)


def decode_only(lines: list[bytes]) -> None:
    """Decode with msgspec alone, unchecked: the yardstick."""
    decode = msgspec.json.Decoder().decode
    for line in lines:
        decode(line)


def best_rates(work: dict[str, Callable[[], object]], count: int, rounds: int) -> dict[str, float]:
    """Run each in turn, and return the best rate of each in actions a second."""
    best = dict.fromkeys(work, float("inf"))
    for _ in range(rounds):
        for name, function in work.items():
            gc.collect()
            begun = time.perf_counter()
            function()
            best[name] = min(best[name], time.perf_counter() - begun)
    return {name: count / seconds for name, seconds in best.items()}


def measure_deltas(rounds: int) -> tuple[float, float]:
    """Measure one turn of 2,000 deltas, three ways for each version, and print it.

    Returns the rate of 1.0 as a part of msgspec's, and as a part of 0.1.0's.
    """
    work: dict[str, Callable[[], object]] = {}
    for version in (OLD, NEW):
        actions = version.deltas(SHORT)
        lines = [encode_json(action) for action in actions]
        check_work(version.decode_and_reduce(lines), "".join(action.content for action in actions))
        work[f"{version.name}: msgspec alone decodes"] = partial(decode_only, lines)
        work[f"{version.name}: reduced"] = partial(version.reduce, actions)
        work[f"{version.name}: decoded and reduced"] = partial(version.decode_and_reduce, lines)
    rates = best_rates(work, SHORT, rounds)
    tell(f"a turn of {SHORT:,} deltas, actions a second:", rates)
    done = rates["1.0: decoded and reduced"]
    return done / rates["1.0: msgspec alone decodes"], done / rates["0.1.0: decoded and reduced"]


def measure_calls(rounds: int) -> float:
    """Measure a turn with many tool calls, print it, and return the rate of 1.0 as a part of 0.1.0's."""
    work: dict[str, Callable[[], object]] = {}
    for version in (OLD, NEW):
        actions = version.calls()
        [turn] = version.reduce(actions)["turns"]
        assert all(part["toolCall"]["status"] == "completed" for part in turn["responseParts"])
        work[version.name] = partial(version.reduce, actions)
    rates = best_rates(work, len(NEW.calls()), rounds)
    tell(f"a turn with {CALLS} tool calls, actions a second:", rates)
    return rates["1.0"] / rates["0.1.0"]


def tell(title: str, rates: dict[str, float]) -> None:
    """Print rates under a title."""
    print(title)
    for name, rate in rates.items():
        print(f"  {name:<30} {rate:>10,.0f}")


def check_work(state: Any, text: str) -> None:
    """Make sure that what is measured does its work."""
    assert state["activeTurn"]["responseParts"][0]["content"] == text


def measure_growth(rounds: int) -> float:
    """Measure the cost of a delta in short and long turns of 1.0, and print it.

    Each length reduces the same deltas equally often, in one long turn or in many short ones, so that only
    the size of the state differs, and a noisy machine disturbs all alike.
    """
    actions = NEW.deltas(SHORT)
    turns = {count: actions * (count // SHORT) for count in (SHORT, 10 * SHORT, LONG)}

    def work(count: int) -> Callable[[], object]:
        return lambda: [NEW.reduce(turns[count]) for _ in range(LONG // count)]

    rates = best_rates({f"{count:,}": work(count) for count in turns}, LONG, rounds)
    print("cost of a delta, by the number of deltas in the turn:")
    for name, rate in rates.items():
        print(f"  {name:<30} {1e9 / rate:>7,.0f} ns")
    return rates[f"{SHORT:,}"] / rates[f"{LONG:,}"]


def main() -> int:
    """Measure, print, and say whether the goals are met."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=100, help="runs of each measurement (default: 100)")
    rounds = parser.parse_args().rounds
    ratio, pace = measure_deltas(rounds)
    calls = measure_calls(rounds)
    growth = measure_growth(max(3, rounds // 10))
    print(f"decoded and reduced, of msgspec's own rate: {ratio:.2f} (goal: at least {GOAL_RATIO})")
    print(f"deltas of 1.0, of the rate of 0.1.0: {pace:.2f}")
    print(f"tool calls of 1.0, of the rate of 0.1.0: {calls:.2f}")
    print(f"cost of a delta at {LONG:,} over that at {SHORT:,}: {growth:.2f} (goal: at most {GOAL_GROWTH})")
    return 0 if ratio >= GOAL_RATIO and growth <= GOAL_GROWTH else 1


if __name__ == "__main__":
    sys.exit(main())
