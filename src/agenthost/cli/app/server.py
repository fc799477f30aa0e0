"""Commands for running servers: `serve`, `token`, `migrate`, `doctor`, `copy`. `reduce` needs none."""

from pathlib import Path
from typing import Annotated, Any

import typer

from agenthost.cli.app.parameters import ConfigOption, DataOption, StoreOption, with_settings

__all__ = ["copy", "doctor", "migrate", "reduce", "serve", "token"]


@with_settings
def serve(
    agents: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="FILE.py|FILE.toml|DIR|MODULE",
            help="Where the agents are. Without any, and without --model or --acp, the demo agent is served.",
            show_default=False,
        ),
    ] = None,
    **options: Any,
) -> None:
    """Serve agents from Python files and modules, from TOML files, from models and from programs.

    A Python file or module serves every Agent at its top level, and every agent of a Host there. In TOML, an
    agent is a file, or a table [agents.NAME] in the file of --config; a folder serves all TOML files in it.

    Every option can also be set in the environment (AGENTHOST_PORT for --port) or in the file of --config
    (port = 8642). Options win over the environment, and the environment over the file.
    """
    from agenthost.cli.serve import run  # noqa: PLC0415 - importing the server takes a while

    run(agents or [], options)


def token(
    *,
    new: Annotated[bool, typer.Option("--new", help="Replace the token; the old one stops working.")] = False,
    enable: Annotated[
        bool | None,
        typer.Option("--enable/--disable", help="Whether the token still works once there are API keys."),
    ] = None,
    data: DataOption = None,
    store: StoreOption = None,
    config: ConfigOption = None,
) -> None:
    """Print the token of a server without API keys.

    Use it with curl, say. Other commands find it by themselves, and the address of the page contains it.
    """
    from agenthost.cli.token import run  # noqa: PLC0415

    run({"data": data, "store": store, "config": config}, is_new=new, enable=enable)


def migrate(
    *,
    finish: Annotated[
        bool,
        typer.Option("--finish", help="Let no older server in any more. There is no way back from this."),
    ] = False,
    store: StoreOption = None,
    config: ConfigOption = None,
) -> None:
    """Upgrade a store in PostgreSQL without serving it.

    A server does the same when it starts. Servers of the version before can go on beside newer ones until
    the upgrade is finished. Stores in SQLite are upgraded when their server starts.
    """
    from agenthost.cli.nodes import migrate as run  # noqa: PLC0415

    run({"store": store, "config": config}, is_finish=finish)


def doctor(
    *,
    deep: Annotated[bool, typer.Option("--deep", help="Check every row; this can take a while.")] = False,
    repair: Annotated[
        bool,
        typer.Option("--repair", help="Build a new store from what can be read, and keep the damaged one."),
    ] = False,
    data: DataOption = None,
    store: StoreOption = None,
    config: ConfigOption = None,
) -> None:
    """Check the data of a stopped server for damage.

    The exit code is 0 if nothing is damaged, 1 if something is, and 2 if the check was not possible.
    """
    from agenthost.cli.doctor import run  # noqa: PLC0415

    run({"data": data, "store": store, "config": config}, is_deep=deep, is_repair=repair)


def copy(
    *,
    source: Annotated[
        str, typer.Option("--from", metavar="PLACE", help="Where everything is: sqlite:DIR or a URL.")
    ],
    target: Annotated[
        str, typer.Option("--to", metavar="PLACE", help="A new place for it: sqlite:DIR or a URL.")
    ],
) -> None:
    """Copy everything that a stopped server has kept to another store: sessions, keys and the token.

    A place is sqlite: and a data folder, or the URL of a PostgreSQL database. What is there is not changed.
    """
    from agenthost.cli.copy import run  # noqa: PLC0415

    run(source, target)


def reduce(
    file: Annotated[
        Path | None,
        typer.Argument(
            metavar="FILE", help="File to read; standard input if left out.", exists=True, dir_okay=False
        ),
    ] = None,
) -> None:
    """Run AHP's reducers on JSON lines.

    Each line is {"reducer": "root" | "session" | "terminal", "state": …, "action": …}, or has "actions": […]
    for several. "now", in Unix milliseconds, is optional. With "protocol": "1.0" there are more reducers, as
    "chat", and no "now". The output has one line for each: the resulting state, or {"error": "…"}.
    """
    from agenthost.cli.reduce import run  # noqa: PLC0415

    run(file)
