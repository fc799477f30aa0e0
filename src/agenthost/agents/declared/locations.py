"""Locations in TOML files, and errors that name them."""

import difflib
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import TypeAlias

__all__ = ["AgentFileError", "LoadModule", "Location"]

LoadModule: TypeAlias = Callable[[str], ModuleType]
"""Loads a module by its name, or a file by its path."""


class AgentFileError(ValueError):
    """The declaration of an agent is wrong; the message says where, and what would be right."""


@dataclass(frozen=True, slots=True)
class Location:
    """A location in a TOML file; its path is a dotted key, such as `agents.coder.mcp.github`."""

    file: Path
    path: str = ""

    def under(self, key: str) -> "Location":
        """Return the location of a key below this one."""
        return Location(self.file, f"{self.path}.{key}" if self.path else key)

    @property
    def folder(self) -> Path:
        """The folder that relative paths start from."""
        return self.file.parent

    def __str__(self) -> str:
        return f"{self.file}: {self.path}" if self.path else str(self.file)

    def error(self, sentence: str) -> AgentFileError:
        """Return an error that names this location."""
        return AgentFileError(f"{self}: {sentence}")

    def check_keys(self, found: Iterable[str], known: Iterable[str]) -> None:
        """Check that all keys are known.

        Raises:
            AgentFileError: one is not; the message suggests a similar key.
        """
        known = list(known)
        for key in found:
            if key not in known:
                close = difflib.get_close_matches(key.lower(), known, 1)
                help_ = f"did you mean {close[0]}?" if close else f"there are {', '.join(known)}"
                raise self.under(key).error(f"there is no such key; {help_}")
