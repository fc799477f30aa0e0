"""The long form: `./run attack [NAME …] [--list] [--seed S]`."""

import argparse
import random
import sys

from attack.catalogue import ATTACKS, run


def main() -> int:
    """Attack a host in every way that is known, and tell what held."""
    parser = argparse.ArgumentParser(
        prog="./run attack", description="Attack servers on this machine; each has to hold."
    )
    parser.add_argument("names", nargs="*", metavar="NAME", help="which (default: all)")
    parser.add_argument("--list", action="store_true", help="say which there are")
    parser.add_argument("--seed", type=int, default=None, help="to do the same again (default: any)")
    given = parser.parse_args()
    if given.list:
        for name, attack in ATTACKS.items():
            print(f"{name:<18} {attack.sentence}")
        return 0
    unknown = [name for name in given.names if name not in ATTACKS]
    if unknown:
        parser.error(f"there is no attack {unknown[0]!r}; --list shows which there are")
    seed = random.randrange(10**6) if given.seed is None else given.seed  # noqa: S311
    print(f"seed {seed}", flush=True)
    chosen = [ATTACKS[name] for name in given.names or ATTACKS]
    return run(chosen, seed, tell=lambda line: print(line, flush=True))


if __name__ == "__main__":
    sys.exit(main())
