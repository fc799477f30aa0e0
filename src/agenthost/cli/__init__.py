"""The command line. Each command's work is in a module of its own, loaded when it is called."""

from pathlib import Path
from typing import Annotated

import typer

from agenthost import __version__

app = typer.Typer(
    name="agenthost",
    help="Host AI agents in one process and let any application talk to them, over AAP and AHP.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,  # importing rich for it would triple the time of `--help`
)


def _print_version(wanted: bool) -> None:  # noqa: FBT001 - the form that typer calls
    if wanted:
        typer.echo(f"agenthost {__version__}")
        raise typer.Exit


@app.callback()
def options(
    *,
    version: Annotated[
        bool,
        typer.Option("--version", callback=_print_version, is_eager=True, help="Show the version and leave."),
    ] = False,
) -> None:
    """Take the options that stand before a command."""


@app.command()
def reduce(
    file: Annotated[
        Path | None,
        typer.Argument(help="The file to read; without it, standard input.", exists=True, dir_okay=False),
    ] = None,
) -> None:
    """Run AHP's reducers over JSON lines: one resulting state a line.

    Each line is {"reducer": "root" | "session" | "terminal", "state": …, "action": …}, or "actions": […]
    for several, with an optional "now" in Unix milliseconds (default: the clock). The answer to a line is
    the state that follows, or {"error": "…"}.
    """
    from agenthost.cli.reduce import run  # noqa: PLC0415 - only this command needs the reducers

    run(file)


def main() -> None:
    """Run the command line."""
    app(prog_name="agenthost")
