"""How fast the session reducer is: `.venv/bin/python benchmarks/reducers.py`.

Rates are the best of several runs, taken in turns so that a noisy machine disturbs all alike; what counts
are the ratios in one run. Exits with 1 when a goal is missed.
"""

import argparse
import gc
import sys
import time
from collections.abc import Callable
from typing import Any

import msgspec

from agenthost.core.reducers import Live, reduce_session
from agenthost.wire.ahp.actions.text import SessionDelta, decode_action
from agenthost.wire.ahp.session import SessionState
from agenthost.wire.json import encode_json
from sample import streaming

GOAL_RATIO = 0.35
GOAL_GROWTH = 1.3

SHORT, LONG = 2_000, 200_000


URI = "demo:/benchmark"


def deltas(count: int) -> list[SessionDelta]:
    """Give the deltas of a turn, no two alike."""
    return [SessionDelta(URI, "t1", "p1", f"word {place} ") for place in range(count)]


def reduce_all(actions: list[SessionDelta]) -> SessionState:
    """Reduce actions that are decoded already, and read the state once at the end."""
    live = Live(streaming(URI))
    for action in actions:
        live = reduce_session(live, action, 1)
    return live.state


def decode_and_reduce(lines: list[bytes]) -> SessionState:
    """Decode, check and reduce, and read the state once at the end."""
    live = Live(streaming(URI))
    decode: Callable[[bytes], Any] = decode_action
    for line in lines:
        live = reduce_session(live, decode(line), 1)
    return live.state


def decode_only(lines: list[bytes]) -> None:
    """Decode with msgspec alone, unchecked: the yardstick."""
    decode = msgspec.json.Decoder().decode
    for line in lines:
        decode(line)


def best_rates(work: dict[str, Callable[[], object]], count: int, rounds: int) -> dict[str, float]:
    """Run each in turn, and give the best rate of each in actions a second."""
    best = dict.fromkeys(work, float("inf"))
    for _ in range(rounds):
        for name, function in work.items():
            gc.collect()
            begun = time.perf_counter()
            function()
            best[name] = min(best[name], time.perf_counter() - begun)
    return {name: count / seconds for name, seconds in best.items()}


def measure_ratio(rounds: int) -> float:
    """Measure one turn of 2,000 deltas, three ways, and print it."""
    actions = deltas(SHORT)
    lines = [encode_json(action) for action in actions]
    check_work(lines, "".join(action.content for action in actions))
    rates = best_rates(
        {
            "msgspec alone decodes": lambda: decode_only(lines),
            "reduced": lambda: reduce_all(actions),
            "decoded and reduced": lambda: decode_and_reduce(lines),
        },
        SHORT,
        rounds,
    )
    print(f"a turn of {SHORT:,} deltas, actions a second:")
    for name, rate in rates.items():
        print(f"  {name:<22} {rate:>10,.0f}")
    return rates["decoded and reduced"] / rates["msgspec alone decodes"]


def check_work(lines: list[bytes], text: str) -> None:
    """Make sure that what is measured does its work."""
    part: Any = decode_and_reduce(lines)["activeTurn"]["responseParts"][0]
    assert part["content"] == text


def measure_growth(rounds: int) -> float:
    """Measure the cost of a delta in short and long turns, and print it.

    Each length reduces the same deltas equally often, in one long turn or in many short ones, so that only
    the size of the state differs, and a noisy machine disturbs all alike.
    """
    actions = deltas(SHORT)
    turns = {count: actions * (count // SHORT) for count in (SHORT, 10 * SHORT, LONG)}

    def work(count: int) -> Callable[[], object]:
        return lambda: [reduce_all(turns[count]) for _ in range(LONG // count)]

    rates = best_rates({f"{count:,}": work(count) for count in turns}, LONG, rounds)
    print("cost of a delta, by the number of deltas in the turn:")
    for name, rate in rates.items():
        print(f"  {name:<22} {1e9 / rate:>7,.0f} ns")
    return rates[f"{SHORT:,}"] / rates[f"{LONG:,}"]


def main() -> int:
    """Measure, print, and say whether the goals are met."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=100, help="runs of each measurement (default: 100)")
    rounds = parser.parse_args().rounds
    ratio = measure_ratio(rounds)
    growth = measure_growth(max(3, rounds // 10))
    print(f"decoded and reduced, of msgspec's own rate: {ratio:.2f} (goal: at least {GOAL_RATIO})")
    print(f"cost of a delta at {LONG:,} over that at {SHORT:,}: {growth:.2f} (goal: at most {GOAL_GROWTH})")
    return 0 if ratio >= GOAL_RATIO and growth <= GOAL_GROWTH else 1


if __name__ == "__main__":
    sys.exit(main())
