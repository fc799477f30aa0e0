"""Help: options in groups and commands in the order of their use, in plain text.

The panels of typer's own would import rich, which takes three times as long.
"""

from typing import Any

from typer.core import TyperCommand, TyperGroup

__all__ = ["GroupedCommand", "OrderedGroup"]

ORDER = ["serve", "chat", "ask", "sessions", "token", "keys", "doctor", "reduce"]
"""What people need first comes first."""


class GroupedCommand(TyperCommand):
    """A command whose options are listed by their `rich_help_panel`, in the order that they stand in."""

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write each group under its name; options without one come last."""
        groups: dict[str, list[tuple[str, str]]] = {}
        for param in self.get_params(ctx):
            record = param.get_help_record(ctx)
            default = "Arguments" if param.param_type_name == "argument" else "Options"
            if record is not None:
                groups.setdefault(getattr(param, "rich_help_panel", None) or default, []).append(record)
        for name in sorted(groups, key="Options".__eq__):
            with formatter.section(name):
                formatter.write_dl(groups[name])


class OrderedGroup(TyperGroup):
    """The commands, in the order of their use."""

    def list_commands(self, ctx: Any) -> list[str]:
        """Return the names of the commands; ones that the order does not know come last."""
        rank = {name: place for place, name in enumerate(ORDER)}
        return sorted(self.commands, key=lambda name: rank.get(name, len(ORDER)))
