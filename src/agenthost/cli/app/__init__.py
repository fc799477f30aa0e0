"""The commands, their parameters and their help. Cheap to import: commands import what they need."""

from typing import Annotated

import typer

from agenthost import __version__
from agenthost.cli.app.client import ask, chat
from agenthost.cli.app.help import OrderedGroup, PlainCommand
from agenthost.cli.app.keys import keys
from agenthost.cli.app.nodes import nodes
from agenthost.cli.app.parameters import UrlOption
from agenthost.cli.app.server import copy, doctor, migrate, reduce, serve, token
from agenthost.cli.app.sessions import sessions

__all__ = ["app"]

CLIENTS = ("ask", "chat", "sessions")
"""The commands that talk to a server."""

app = typer.Typer(
    name="agenthost",
    cls=OrderedGroup,
    help="Host AI agents in one process, and let any application talk to them over AAP and AHP.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,  # importing rich would triple the time of `--help`
)
app.command(cls=PlainCommand, short_help="Serve agents from files, models or programs.")(serve)
for command in (chat, ask, token, doctor, migrate, copy, reduce):
    app.command(cls=PlainCommand)(command)
app.add_typer(keys, name="keys")
app.add_typer(nodes, name="nodes")
app.add_typer(sessions, name="sessions")


def _print_version(wanted: bool) -> None:  # noqa: FBT001 - typer calls it like this
    if wanted:
        typer.echo(f"agenthost {__version__}")
        raise typer.Exit


@app.callback()
def read_common_options(
    context: typer.Context,
    *,
    url: UrlOption = None,
    version: Annotated[
        bool,
        typer.Option("--version", callback=_print_version, is_eager=True, help="Show the version and exit."),
    ] = False,
) -> None:
    """Read the options that stand before the command."""
    command = context.invoked_subcommand
    if url is not None and command not in CLIENTS:
        raise typer.BadParameter(
            f"{command} does not talk to a server; only {', '.join(CLIENTS)} do", param_hint="--url"
        )
    context.default_map = {name: {"url": url} for name in CLIENTS}
