"""Where a value was given: an option, a variable, an argument, or a line of a file."""

import os
import tomllib
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

__all__ = ["Given", "Place", "TomlFile"]


class TomlFile:
    """A TOML file, with its text: `tomllib` forgets the lines.

    Raises:
        OSError: the file cannot be read.
        ValueError: it is not TOML in UTF-8.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._text = path.read_text("utf-8")
        self.table = tomllib.loads(self._text)

    def line_of(self, *keys: str) -> int | None:
        """Return the number of the line where a key is set; None if it cannot be told.

        A line sets the key if the file up to it is TOML without the key, and the file up to the end of the
        value is TOML with it. That holds for every way to write TOML but escapes in the key.
        """
        lines = self._text.split("\n")
        for start, line in enumerate(lines):
            if keys[-1] not in line or _has(lines[:start], keys) is not False:
                continue
            ends = (_has(lines[:end], keys) for end in range(start + 1, len(lines) + 1))
            if next((found for found in ends if found is not None), False):
                return start + 1
        return None


def _has(lines: list[str], keys: tuple[str, ...]) -> bool | None:
    """Tell whether the lines set a key; None if they are not TOML, as they end inside a value."""
    try:
        value: Any = tomllib.loads("\n".join(lines))
    except tomllib.TOMLDecodeError:
        return None
    for key in keys:
        if not isinstance(value, dict) or key not in value:
            return False
        value = value[key]
    return True


@dataclass(frozen=True, slots=True)
class Place:
    """Where a value was given. As a string, it is how error messages name the place.

    Attributes:
        keys: an option, a variable or an argument; or the keys that lead to the value in a file.
        file: the file, if it was given in one.
    """

    keys: tuple[str, ...]
    file: TomlFile | None = None

    def inside(self, key: str) -> "Place":
        """Return the place of a key in the table at this place."""
        return replace(self, keys=(*self.keys, key))

    def __str__(self) -> str:
        name = ".".join(self.keys)
        if self.file is None:
            return name
        line = self.file.line_of(*self.keys)
        where = str(self.file.path) if line is None else f"{self.file.path}:{line}"
        return f"{where}: {name}"


@dataclass(frozen=True, slots=True)
class Given:
    """A value as it was given.

    Attributes:
        value: the value itself: text, or what TOML or a caller made of it.
        place: where it was given.
        folder: what relative paths are relative to.
        is_text: whether text may stand for other types: options and variables are nothing but text.
    """

    value: Any
    place: Place
    folder: Path
    is_text: bool = True

    def resolve(self, path: str | Path) -> Path:
        """Return an absolute path, with `~` expanded. Symbolic links stay as they are.

        Raises:
            RuntimeError: there is no such home folder.
        """
        return Path(os.path.normpath(self.folder / Path(path).expanduser()))
