"""One setting: everything that is to be known of it, declared once as a field of `Settings`."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from agenthost.settings.kinds import Choice, Flag, Kind, Table

__all__ = ["PREFIX", "Group", "Setting", "as_argument", "as_option", "as_variable"]

PREFIX = "AGENTHOST_"
"""The prefix of all variables."""


def as_option(name: str) -> str:
    """Spell a setting as an option of the command line."""
    return "--" + name.replace("_", "-")


def as_variable(name: str) -> str:
    """Spell a setting as a variable of the environment."""
    return PREFIX + name.upper()


def as_argument(name: str) -> str:
    """Spell a setting as an argument of a call, or as a key of a file."""
    return name


@dataclass(frozen=True, kw_only=True)
class Setting:
    """The declaration of a setting.

    Attributes:
        name: its key in the file. The option and the variable are spelled after it.
        kind: how its value is read.
        default: its value where it is not set; None if that is worked out at the start.
        group: the heading that it is listed under.
        summary: a sentence or two, for `--help` and the docs.
        notes: what the docs say beyond that, in Markdown.
        metavar: what stands for the value in `--help`.
        default_text: the default in words, where the value itself would not say it.
        needs: the setting without which this one has no effect.
        host_argument: the argument of `Host` that sets the same from Python.
        is_in_file: whether the file may set it.
        is_repeatable: whether the option may be given several times.
    """

    name: str = ""
    kind: Kind
    default: Any = None
    group: str
    summary: str
    notes: str = ""
    metavar: str = ""
    default_text: str = ""
    needs: str = ""
    host_argument: str = ""
    is_in_file: bool = True
    is_repeatable: bool = False

    @property
    def is_table(self) -> bool:
        """Whether only the file can set it."""
        return isinstance(self.kind, Table)

    @property
    def option(self) -> str:
        """Its option on the command line."""
        return as_option(self.name)

    @property
    def variable(self) -> str:
        """Its variable in the environment."""
        return as_variable(self.name)

    @property
    def placeholder(self) -> str:
        """The placeholder for the value in `--help`; empty if the option takes none."""
        return "|".join(self.kind.words) if isinstance(self.kind, Choice) else self.metavar

    @property
    def shown_default(self) -> str:
        """The default in words; empty if there is none worth a word."""
        if self.default_text or self.default is None or self.default == ():
            return self.default_text
        if isinstance(self.kind, Flag):
            return "on" if self.default else ""
        return str(self.default)


@dataclass(frozen=True, slots=True)
class Group:
    """A heading that settings are listed under."""

    name: str

    def setting(
        self, kind: Kind, *, default: Any = None, factory: Callable[[], Any] | None = None, **more: Any
    ) -> Any:
        """Declare a setting as the default of a field. `factory` works the default out at the start."""
        metadata = {"setting": Setting(kind=kind, default=default, group=self.name, **more)}
        if factory is not None:
            return field(default_factory=factory, metadata=metadata)
        return field(default=default, metadata=metadata)
