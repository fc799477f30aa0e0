"""The long form: `./run crash [--kills N] [--seed S] [--model] [--postgres]`."""

import argparse
import random
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from importlib import import_module
from pathlib import Path

from crash.checks import Wrong
from crash.harness import Harness
from crash.model import scripted_model
from crash.places import Database, Place


@contextmanager
def _place(*, is_database: bool) -> Iterator[Place | None]:
    if not is_database:
        yield None
        return
    databases = import_module("databases")  # needs a driver
    with databases.own_postgres() as server:
        yield Database(server, databases.PostgresStorage)


def main() -> int:
    """Kill a host many times, and tell what came of it."""
    parser = argparse.ArgumentParser(
        prog="./run crash", description="Kill a host again and again; nothing is lost."
    )
    parser.add_argument("--kills", type=int, default=200, help="how often (default: 200)")
    parser.add_argument("--seed", type=int, default=None, help="to do the same again (default: any)")
    parser.add_argument("--model", action="store_true", help="an agent with a model, which aimock plays")
    parser.add_argument("--postgres", action="store_true", help="a host on PostgreSQL, which ./check sets up")
    given = parser.parse_args()
    seed = random.randrange(10**6) if given.seed is None else given.seed  # noqa: S311
    print(f"seed {seed}", flush=True)
    with tempfile.TemporaryDirectory(prefix="agenthost-crash-") as folder:
        playing = scripted_model(Path(folder), seed) if given.model else nullcontext()
        try:
            with playing as service, _place(is_database=given.postgres) as place:
                # Faults of the disk are made with SQLite's own means.
                summary = Harness(Path(folder), seed, service, place).run(
                    given.kills,
                    faults=0 if given.postgres else 0.05,
                    progress=lambda line: print(line, flush=True),
                )
        except Wrong as wrong:
            print(f"WRONG, {wrong}", file=sys.stderr)
            return 1
    print(summary)
    return 0


if __name__ == "__main__":
    sys.exit(main())
