"""The group `agenthost keys`."""

from typing import Annotated

import typer

from agenthost.cli.app.help import PlainCommand
from agenthost.cli.app.parameters import ConfigOption, DataOption, StoreOption

__all__ = ["keys"]

keys = typer.Typer(no_args_is_help=True, help="Create, list and revoke API keys. The server may be running.")


@keys.command("create", cls=PlainCommand)
def create_key(
    *,
    owner: Annotated[
        str, typer.Option(metavar="NAME", help="Owner of the sessions it opens. [default: no owner]")
    ] = "",
    name: Annotated[str, typer.Option(metavar="LABEL", help="Label to tell keys apart by.")] = "",
    expires: Annotated[
        str | None,
        typer.Option(metavar="30d", help="How long it is valid, in s, m, h, d or w. [default: forever]"),
    ] = None,
    terminals: Annotated[
        bool, typer.Option("--terminals", help="Allow it to open shells, as the user that runs the server.")
    ] = False,
    run: Annotated[
        bool,
        typer.Option("--run", help="Allow it to let agents run programs, as the user that runs the server."),
    ] = False,
    admin: Annotated[
        bool, typer.Option("--admin", help="Allow it to read the metrics and change the server's settings.")
    ] = False,
    grant: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME",
            help="Grant this instead of sessions and files: sessions, files, terminals, run or admin. "
            "Repeat to grant more.",
        ),
    ] = None,
    data: DataOption = None,
    store: StoreOption = None,
    config: ConfigOption = None,
) -> None:
    """Create an API key and print it. It is shown only this once.

    By default a key gives access to the sessions and files of its owner, but to no shell.
    """
    from agenthost.cli.keys import NewKey, create  # noqa: PLC0415

    more = {"terminals": terminals, "run": run, "admin": admin}
    added = [one for one, is_wanted in more.items() if is_wanted]
    create({"data": data, "store": store, "config": config}, NewKey(owner, name, expires, grant or [], added))


@keys.command("list", cls=PlainCommand)
def list_keys(*, data: DataOption = None, store: StoreOption = None, config: ConfigOption = None) -> None:
    """List the API keys, without their secrets."""
    from agenthost.cli.keys import list_all  # noqa: PLC0415

    list_all({"data": data, "store": store, "config": config})


@keys.command("revoke", cls=PlainCommand)
def revoke_key(
    key_id: Annotated[str, typer.Argument(metavar="ID", help="Id of the key, as in the list.")],
    *,
    data: DataOption = None,
    store: StoreOption = None,
    config: ConfigOption = None,
) -> None:
    """Revoke an API key. It stops working within a second."""
    from agenthost.cli.keys import revoke  # noqa: PLC0415

    revoke({"data": data, "store": store, "config": config}, key_id)
