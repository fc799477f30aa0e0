"""Options of the form NAME=VALUE."""

from collections.abc import Sequence

__all__ = ["read_assignments"]


def read_assignments(option: str, values: Sequence[str]) -> dict[str, str]:
    """Return what was given with an option, by name.

    Raises:
        ValueError: a value is not of the form NAME=VALUE.
    """
    found = {}
    for given in values:
        name, equals, value = given.partition("=")
        if not name or not equals:
            raise ValueError(f"{option}: expected NAME=VALUE, found {given!r}")
        found[name] = value
    return found
