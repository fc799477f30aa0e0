"""The long form: `./run crash [--kills N] [--seed S] [--model]`."""

import argparse
import random
import sys
import tempfile
from contextlib import nullcontext
from pathlib import Path

from crash.checks import Wrong
from crash.harness import Harness
from crash.model import scripted_model


def main() -> int:
    """Kill a host many times, and tell what came of it."""
    parser = argparse.ArgumentParser(
        prog="./run crash", description="Kill a host again and again; nothing is lost."
    )
    parser.add_argument("--kills", type=int, default=200, help="how often (default: 200)")
    parser.add_argument("--seed", type=int, default=None, help="to do the same again (default: any)")
    parser.add_argument("--model", action="store_true", help="an agent with a model, which aimock plays")
    given = parser.parse_args()
    seed = random.randrange(10**6) if given.seed is None else given.seed  # noqa: S311
    print(f"seed {seed}", flush=True)
    with tempfile.TemporaryDirectory(prefix="agenthost-crash-") as folder:
        playing = scripted_model(Path(folder), seed) if given.model else nullcontext()
        try:
            with playing as service:
                summary = Harness(Path(folder), seed, service).run(
                    given.kills, faults=0.05, progress=lambda line: print(line, flush=True)
                )
        except Wrong as wrong:
            print(f"WRONG, {wrong}", file=sys.stderr)
            return 1
    print(summary)
    return 0


if __name__ == "__main__":
    sys.exit(main())
