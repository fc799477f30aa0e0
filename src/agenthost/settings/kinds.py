"""Kinds of values: how each is read from text or TOML, and what was expected if that fails."""

import re
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

from agenthost.errors import WrongAddress
from agenthost.host.limits import Limits
from agenthost.host.store_address import EXPECTED, StoreAddress, parse_address
from agenthost.settings.errors import SettingsError, closest, show
from agenthost.settings.places import Given

__all__ = [
    "AgentTables",
    "Agents",
    "Choice",
    "Flag",
    "Kind",
    "LimitsTable",
    "List",
    "Number",
    "PathTo",
    "Prompt",
    "StoreUrl",
    "Table",
    "Text",
]

_TRUE, _FALSE = ("true", "1"), ("false", "0")


class Kind:
    """How a value is read. `expected` completes the sentence "expected …"."""

    expected: str

    def read(self, given: Given) -> Any:
        """Check a value and convert it.

        Raises:
            SettingsError: it is not of this kind.
        """
        raise NotImplementedError

    def wrong(self, given: Given) -> SettingsError:
        """Return the error for a value that is not of this kind."""
        return SettingsError(f"{given.place}: expected {self.expected}, found {show(given.value)}")


@dataclass(frozen=True)
class Number(Kind):
    """A whole number within bounds."""

    minimum: int
    maximum: int | None = None
    unit: str = ""

    @property
    def expected(self) -> str:  # type: ignore[override]
        """The bounds in words."""
        what = f"a whole number of {self.unit}" if self.unit else "a whole number"
        if self.maximum is None:
            return f"{what}, at least {self.minimum}"
        return f"{what} from {self.minimum} to {self.maximum}"

    def read(self, given: Given) -> int:
        """Return the number."""
        value = given.value
        if given.is_text and isinstance(value, str) and re.fullmatch(r"-?[0-9]{1,18}", value):
            value = int(value)
        is_small = self.maximum is None or (type(value) is int and value <= self.maximum)
        if type(value) is not int or value < self.minimum or not is_small:
            raise self.wrong(given)
        return value


@dataclass(frozen=True)
class Flag(Kind):
    """Yes or no. On the command line it is an option without a value; `--no-…` is its opposite, if wanted."""

    has_opposite: bool = True
    expected = "true or false"

    def read(self, given: Given) -> bool:
        """Return whether it is set."""
        value = given.value
        if given.is_text and str(value).lower() in (*_TRUE, *_FALSE):
            return str(value).lower() in _TRUE
        if not isinstance(value, bool):
            raise self.wrong(given)
        return value


class Choice(Kind):
    """One of a few words."""

    def __init__(self, *words: str) -> None:
        self.words = words
        self.expected = f"{', '.join(words[:-1])} or {words[-1]}"

    def read(self, given: Given) -> str:
        """Return the word."""
        if given.value not in self.words:
            raise self.wrong(given)
        return str(given.value)


@dataclass(frozen=True)
class Text(Kind):
    """A text that matches a pattern."""

    expected: str
    pattern: str = ".+"

    def read(self, given: Given) -> str:
        """Return the text."""
        if not isinstance(given.value, str) or not re.fullmatch(self.pattern, given.value, re.DOTALL):
            raise self.wrong(given)
        return given.value


@dataclass(frozen=True)
class StoreUrl(Kind):
    """The URL of a store. Whatever is wrong with it, its password is not repeated."""

    expected = EXPECTED

    def read(self, given: Given) -> StoreAddress:
        """Return the address."""
        if isinstance(given.value, StoreAddress):
            return given.value
        if not isinstance(given.value, str):
            raise self.wrong(given)
        try:
            return parse_address(given.value)
        except WrongAddress as error:
            raise SettingsError(f"{given.place}: {error}") from None


@dataclass(frozen=True)
class PathTo(Kind):
    """A path to something, made absolute."""

    what: str
    is_existing_folder: bool = False

    @property
    def expected(self) -> str:  # type: ignore[override]
        """The path in words."""
        return f"the path of {self.what}"

    def read(self, given: Given) -> Path:
        """Return the path."""
        value = given.value
        if not isinstance(value, str | Path) or not str(value) or "\0" in str(value):
            raise self.wrong(given)
        try:
            path = given.resolve(value)
        except RuntimeError:
            raise self.wrong(given) from None
        if self.is_existing_folder and not path.is_dir():
            raise self.wrong(given)
        return path


@dataclass(frozen=True)
class Prompt(Kind):
    """A text, or `@` and the path of the file that has it."""

    expected = "a text, or @ and the path of a file"

    def read(self, given: Given) -> str:
        """Return the text."""
        value = given.value
        if not isinstance(value, str):
            raise self.wrong(given)
        if not value.startswith("@"):
            return value
        path = PathTo("a file").read(replace(given, value=value[1:]))
        try:
            return path.read_text("utf-8")
        except (OSError, UnicodeDecodeError) as error:
            why = getattr(error, "strerror", None) or "it is not UTF-8"
            raise SettingsError(f"{given.place}: cannot read {path}: {why}") from None


@dataclass(frozen=True)
class List(Kind):
    """Several values of a kind. As text, they stand between separators."""

    item: Kind
    expected: str
    separator: str = ","

    def read(self, given: Given) -> tuple[Any, ...]:
        """Return the values."""
        value = given.value
        if given.is_text and isinstance(value, str):
            value = [part.strip() for part in value.split(self.separator) if part.strip()]
        if not isinstance(value, list | tuple):
            raise self.wrong(given)
        try:
            return tuple(self.item.read(replace(given, value=one)) for one in value)
        except SettingsError:
            raise self.wrong(given) from None


@dataclass(frozen=True)
class Table(Kind):
    """A table of TOML. Only a file can have one."""

    expected: str = "a table"

    def read(self, given: Given) -> Any:
        """Return the table."""
        if not isinstance(given.value, dict):
            raise self.wrong(given)
        return given.value


@dataclass(frozen=True)
class AgentTables:
    """Agents that are declared in the file with the settings. `agents.declared` reads them."""

    file: Path
    tables: dict[str, Any]


@dataclass(frozen=True)
class Agents(Table):
    """A table for each agent."""

    expected: str = "a table for each agent: [agents.NAME]"

    def read(self, given: Given) -> AgentTables:
        """Return the tables, and the file that they are in."""
        tables = super().read(given)
        if given.place.file is None:  # a caller passed the table
            raise self.wrong(given)
        return AgentTables(given.place.file.path, tables)


@dataclass(frozen=True)
class LimitsTable(Table):
    """The limits of a host."""

    def read(self, given: Given) -> Limits:
        """Return the limits; those that are not set have their defaults."""
        table = super().read(given)
        known = [field.name for field in fields(Limits)]
        for name, value in table.items():
            place = given.place.inside(name)
            if name not in known:
                near = closest(name, known)
                help_ = f"did you mean {near}?" if near else f"the limits are {', '.join(known)}"
                raise SettingsError(f"{place}: no such limit; {help_}")
            Number(1).read(replace(given, value=value, place=place))
        return Limits(**table)
