"""The error for a wrong setting, and the parts of its sentence."""

import difflib
from collections.abc import Iterable
from pathlib import Path

__all__ = ["SettingsError", "closest", "show"]


class SettingsError(ValueError):
    """A setting is wrong. The sentence says which, where it was given, and what was expected."""


def show(value: object) -> str:
    """Return a value as an error message shows it."""
    if isinstance(value, bool):
        return str(value).lower()
    return repr(str(value) if isinstance(value, Path) else value)


def closest(name: str, known: Iterable[str]) -> str | None:
    """Return the known name that was probably intended; None if nothing is close."""
    by_lower = {one.lower(): one for one in known}
    found = difflib.get_close_matches(name.lower(), by_lower, 1)
    return by_lower[found[0]] if found else None
