"""Help in plain text: options in groups, commands in the order of their use.

The panels of typer itself would need rich, and importing that takes three times as long as all the rest.
"""

from typing import Any

from typer.core import TyperArgument, TyperCommand, TyperGroup

__all__ = ["OrderedGroup", "PlainCommand"]

ORDER = ["serve", "chat", "ask", "sessions", "token", "keys", "nodes", "doctor", "migrate", "copy", "reduce"]
"""The commands, in the order in which a newcomer needs them."""


class PlainCommand(TyperCommand):
    """A command whose help names arguments in capitals, and lists options by their `rich_help_panel`."""

    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        """Return the words of the usage line: `[OPTIONS] ID [FILE]...`."""
        pieces = [str(self.options_metavar)]
        for param in self.get_params(ctx):
            if isinstance(param, TyperArgument):
                name = _argument_name(param) if param.required else f"[{_argument_name(param)}]"
                pieces.append(name if param.nargs == 1 else f"{name}...")
        return pieces

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write each group under its heading; options without a group come last."""
        groups: dict[str, list[tuple[str, str]]] = {}
        for param in self.get_params(ctx):
            if isinstance(param, TyperArgument):
                groups.setdefault("Arguments", []).append((_argument_name(param), param.help or ""))
            elif record := param.get_help_record(ctx):
                groups.setdefault(getattr(param, "rich_help_panel", None) or "Options", []).append(record)
        for name in sorted(groups, key="Options".__eq__):
            with formatter.section(name):
                formatter.write_dl(groups[name])


def _argument_name(param: TyperArgument) -> str:
    return param.metavar or str(param.name).upper()


class OrderedGroup(TyperGroup):
    """Commands that are listed in the order of their use."""

    def list_commands(self, ctx: Any) -> list[str]:
        """Return the names of the commands; those that `ORDER` does not have come last."""
        rank = {name: place for place, name in enumerate(ORDER)}
        return sorted(self.commands, key=lambda name: rank.get(name, len(ORDER)))
