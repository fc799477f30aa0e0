"""Places: where in which file something stands, and what is said when it is wrong."""

import difflib
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import TypeAlias

__all__ = ["DeclarationError", "LoadModule", "Place"]

LoadModule: TypeAlias = Callable[[str], ModuleType]
"""Loads a module by its name, or a file by its path."""


class DeclarationError(ValueError):
    """What is written of an agent is wrong; the sentence says where, and what would be right."""


@dataclass(frozen=True, slots=True)
class Place:
    """A place in a file: its path in the words of TOML, such as `agents.coder.mcp.github`."""

    file: Path
    path: str = ""

    def under(self, key: str) -> "Place":
        """Give the place of a key at this place."""
        return Place(self.file, f"{self.path}.{key}" if self.path else key)

    @property
    def folder(self) -> Path:
        """What relative paths count from."""
        return self.file.parent

    def __str__(self) -> str:
        return f"{self.file}: {self.path}" if self.path else str(self.file)

    def wrong(self, sentence: str) -> DeclarationError:
        """Make the error for what is wrong here."""
        return DeclarationError(f"{self}: {sentence}")

    def check_keys(self, found: Iterable[str], known: Iterable[str]) -> None:
        """Refuse keys that there are not.

        Raises:
            DeclarationError: with what was probably meant.
        """
        known = list(known)
        for key in found:
            if key not in known:
                close = difflib.get_close_matches(key.lower(), known, 1)
                help_ = f"did you mean {close[0]}?" if close else f"there are {', '.join(known)}"
                raise self.under(key).wrong(f"there is no such key; {help_}")
