"""Options: what a session can set about its agent, and suggestions for their values."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, TypeAlias

from agenthost.core.decisions.grants import Grant
from agenthost.wire.ahp.commands.config import SessionConfigValueItem

__all__ = ["Option", "Suggest", "SuggestQuery", "Suggestion"]


@dataclass(frozen=True, slots=True)
class SuggestQuery:
    """What suggestions are wanted for.

    Attributes:
        text: what was typed so far; empty asks for defaults.
        values: the values of the other options.
        folder: the folder that the session will work in, if known.
    """

    text: str = ""
    values: Mapping[str, str] = field(default_factory=dict)
    folder: Path | None = None


@dataclass(frozen=True, slots=True)
class Suggestion:
    """A value that an option may have, and how it is shown to people."""

    value: str
    label: str | None = None
    description: str | None = None

    def item(self) -> SessionConfigValueItem:
        """Return it as clients get it."""
        item: SessionConfigValueItem = {"value": self.value, "label": self.label or self.value}
        if self.description is not None:
            item["description"] = self.description
        return item


Suggest: TypeAlias = Callable[[SuggestQuery], Awaitable[Sequence[str | Suggestion]]]
"""Suggests values for an option that a user is about to set."""


@dataclass(frozen=True, slots=True)
class Option:
    """A setting of an agent, chosen per session. Its value is text.

    Attributes:
        name: its name.
        kind: `text`, `select` (one of `choices`) or `secret` (never shown again, encrypted at rest).
        default: its value unless it is set.
        choices: the values that a `select` can have.
        title: its name for people.
        description: what it does.
        mutable: whether it may change after the session was created.
        suggest: finds values to choose from, such as the branches of a repository.
        labels: the names of the choices for people, in their order.
        descriptions: what the choices mean, in their order.
        grant: the grant that a key needs to set it to anything but the default.
    """

    name: str
    kind: Literal["text", "select", "secret"] = "text"
    default: str = ""
    choices: tuple[str, ...] = ()
    title: str | None = None
    description: str | None = None
    mutable: bool = True
    suggest: Suggest | None = None
    labels: tuple[str, ...] = ()
    descriptions: tuple[str, ...] = ()
    grant: Grant | None = None

    def __post_init__(self) -> None:
        if not self.name:
            raise ValueError("an option needs a name")
        if self.kind == "select" and self.default not in self.choices:
            raise ValueError(f"option {self.name!r}: default {self.default!r} is not one of {self.choices}")

    @staticmethod
    def text(
        name: str, default: str = "", *, title: str | None = None, description: str | None = None
    ) -> "Option":
        """Make an option with free text."""
        return Option(name, "text", default, (), title, description)

    @staticmethod
    def select(
        name: str,
        choices: Sequence[str],
        default: str | None = None,
        *,
        title: str | None = None,
        description: str | None = None,
    ) -> "Option":
        """Make an option with a fixed list of values; the first is the default."""
        first = choices[0] if choices else ""
        return Option(
            name, "select", first if default is None else default, tuple(choices), title, description
        )

    @staticmethod
    def secret(name: str, *, title: str | None = None, description: str | None = None) -> "Option":
        """Make an option that is never shown again."""
        return Option(name, "secret", "", (), title, description)
