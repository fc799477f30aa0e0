"""The long form: `./run cluster [--faults N] [--seed S] [--nodes N] [--lease SECONDS]`."""

import argparse
import asyncio
import random
import sys
import tempfile
from pathlib import Path

from cluster.harness import Harness
from crash.checks import Wrong
from databases import own_postgres


def main() -> int:
    """Disturb nodes many times, and tell what came of it."""
    parser = argparse.ArgumentParser(
        prog="./run cluster",
        description="Kill, stop and cut off nodes on one PostgreSQL, again and again; nothing is lost.",
    )
    parser.add_argument("--faults", type=int, default=100, help="how many (default: 100)")
    parser.add_argument("--seed", type=int, default=None, help="to draw the same again (default: any)")
    parser.add_argument("--nodes", type=int, default=3, help="how many live at a time (default: 3)")
    parser.add_argument("--lease", type=int, default=2, help="of a node, in seconds (default: 2)")
    given = parser.parse_args()
    seed = random.randrange(10**6) if given.seed is None else given.seed  # noqa: S311
    print(f"seed {seed}", flush=True)
    with tempfile.TemporaryDirectory(prefix="ah-cl-") as folder, own_postgres() as database:
        harness = Harness(Path(folder), database, seed, nodes=given.nodes, lease=given.lease)
        try:
            summary = asyncio.run(harness.run(given.faults, lambda line: print(line, flush=True)))
        except Wrong as wrong:
            print(f"WRONG, {wrong}", file=sys.stderr)
            return 1
    print(summary)
    return 0


if __name__ == "__main__":
    sys.exit(main())
