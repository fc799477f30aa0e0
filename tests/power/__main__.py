"""The long form: `./run power [--cuts N] [--seed S] [--sync full|normal]`."""

import argparse
import asyncio
import random
import sys
import tempfile
from pathlib import Path

from power.book import Wrong
from power.harness import Harness, compile_recorder


def main() -> int:
    """Cut the power of a host many times, and tell what came of it."""
    parser = argparse.ArgumentParser(
        prog="./run power", description="Cut the power again and again; nothing that was shown is lost."
    )
    parser.add_argument("--cuts", type=int, default=200, help="how often, for each (default: 200)")
    parser.add_argument("--seed", type=int, default=None, help="to do the same again (default: any)")
    parser.add_argument("--sync", choices=("full", "normal"), help="only with this (default: both)")
    given = parser.parse_args()
    seed = random.randrange(10**6) if given.seed is None else given.seed  # noqa: S311
    print(f"seed {seed}", flush=True)
    for sync in [given.sync] if given.sync else ["full", "normal"]:
        with tempfile.TemporaryDirectory(prefix="agenthost-power-") as name:
            recorder = compile_recorder(Path(name))
            if recorder is None:
                print("this needs Linux and a C compiler", file=sys.stderr)
                return 2
            harness = Harness(Path(name), recorder, seed, sync)
            try:
                summary = asyncio.run(harness.run(given.cuts, progress=lambda line: print(line, flush=True)))
            except Wrong as wrong:
                print(f"WRONG, {wrong}", file=sys.stderr)
                return 1
        print(f"--sync {sync}: {summary}", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
