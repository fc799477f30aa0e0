"""Pairs: what is given on the command line as NAME=VALUE."""

from collections.abc import Sequence

__all__ = ["read_pairs"]


def read_pairs(option: str, pairs: Sequence[str]) -> dict[str, str]:
    """Read what was given with an option.

    Raises:
        ValueError: it is no pair.
    """
    for pair in pairs:
        name, is_there, _ = pair.partition("=")
        if not name or not is_there:
            raise ValueError(f"{option}: expected NAME=VALUE, found {pair!r}")
    return {name: value for name, _, value in (pair.partition("=") for pair in pairs)}
