"""The group `agenthost sessions`."""

from pathlib import Path
from typing import Annotated

import typer

from agenthost.cli.app.help import PlainCommand
from agenthost.cli.app.parameters import ConfigOption, DataOption, KeyOption, StoreOption, UrlOption

__all__ = ["sessions"]

sessions = typer.Typer(no_args_is_help=True)

SessionArgument = Annotated[
    str, typer.Argument(metavar="ID", help="Id of the session; its first characters are enough.")
]


@sessions.callback()
def choose_server(
    context: typer.Context,
    *,
    url: UrlOption = None,
    key: Annotated[
        str | None, typer.Option("--key", metavar="KEY", envvar="AGENTHOST_KEY", help="API key.")
    ] = None,
) -> None:
    """List, show, export and delete sessions, and end turns."""
    # For the command that follows; its own options win.
    context.default_map = {str(one.name): {"url": url, "key": key} for one in sessions.registered_commands}


@sessions.command("list", cls=PlainCommand)
def list_sessions(
    *,
    json: Annotated[bool, typer.Option("--json", help="Print JSON, with everything known of them.")] = False,
    archived: Annotated[bool, typer.Option("--archived", help="Include archived sessions.")] = False,
    url: UrlOption = None,
    key: KeyOption = None,
) -> None:
    """List sessions, newest first."""
    from agenthost.cli.sessions import Server, list_all  # noqa: PLC0415

    list_all(Server(url, key), is_json=json, has_archived=archived)


@sessions.command("show", cls=PlainCommand)
def show_session(name: SessionArgument, *, url: UrlOption = None, key: KeyOption = None) -> None:
    """Show what was said and done in a session."""
    from agenthost.cli.sessions import Server, show  # noqa: PLC0415

    show(Server(url, key), name)


@sessions.command("export", cls=PlainCommand)
def export_session(
    name: SessionArgument,
    *,
    json: Annotated[
        bool, typer.Option("--json", help="Export the whole state as JSON instead of Markdown.")
    ] = False,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="FILE", help="File to write. [default: standard output]"),
    ] = None,
    url: UrlOption = None,
    key: KeyOption = None,
) -> None:
    """Export a session as Markdown or JSON."""
    from agenthost.cli.sessions import Server, export  # noqa: PLC0415

    export(Server(url, key), name, is_json=json, output=output)


@sessions.command("end", cls=PlainCommand)
def end_turn(
    name: SessionArgument,
    *,
    data: DataOption = None,
    store: StoreOption = None,
    config: ConfigOption = None,
    url: UrlOption = None,
    key: KeyOption = None,
) -> None:
    """End the turn of a session. If no server is running, this is done in its data."""
    from agenthost.cli.sessions import Server, end  # noqa: PLC0415

    end(Server(url, key), {"data": data, "store": store, "config": config}, name)


@sessions.command("delete", cls=PlainCommand)
def delete_sessions(
    names: Annotated[
        list[str],
        typer.Argument(metavar="ID", help="Ids of the sessions; their first characters are enough."),
    ],
    *,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask for confirmation.")] = False,
    url: UrlOption = None,
    key: KeyOption = None,
) -> None:
    """Delete sessions for everyone. This cannot be undone."""
    from agenthost.cli.sessions import Server, delete  # noqa: PLC0415

    delete(Server(url, key), names, is_sure=yes)
