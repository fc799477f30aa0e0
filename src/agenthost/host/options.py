"""Options: what a session can set about its agent, and how values for them are found."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, TypeAlias

from agenthost.core.decisions.grants import Grant
from agenthost.wire.ahp.commands.session import SessionConfigValueItem

__all__ = ["Option", "Suggest", "SuggestQuery", "Suggestion"]


@dataclass(frozen=True, slots=True)
class SuggestQuery:
    """What values are wanted for.

    Attributes:
        text: what was typed so far; nothing asks for defaults.
        values: what the other options are.
        folder: where the session is to work, if that is known.
    """

    text: str = ""
    values: Mapping[str, str] = field(default_factory=dict)
    folder: Path | None = None


@dataclass(frozen=True, slots=True)
class Suggestion:
    """A value that an option may have, and what people read."""

    value: str
    label: str | None = None
    description: str | None = None

    def item(self) -> SessionConfigValueItem:
        """Give it as it travels."""
        item: SessionConfigValueItem = {"value": self.value, "label": self.label or self.value}
        if self.description is not None:
            item["description"] = self.description
        return item


Suggest: TypeAlias = Callable[[SuggestQuery], Awaitable[Sequence[str | Suggestion]]]
"""Finds values for an option, when somebody is about to choose one."""


@dataclass(frozen=True, slots=True)
class Option:
    """Something about an agent that a session can set. Its value is text.

    Attributes:
        name: how it is called.
        kind: `text`, `select` (one of `choices`) or `secret` (never shown again, encrypted at rest).
        default: what it is unless it is set.
        choices: what a `select` can be.
        title: how people call it.
        description: what it does.
        mutable: whether it may change once the session is there.
        suggest: finds values when somebody is about to choose one, such as the branches of a repository.
        labels: how people call the choices, in their order.
        descriptions: what the choices mean, in their order.
        grant: what a key must have to set it to something else than the default.
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
            raise ValueError(f"option {self.name!r}: the default {self.default!r} is none of {self.choices}")

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
