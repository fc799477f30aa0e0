"""The groups of commands: `agenthost keys …`, `agenthost sessions …`. Other modules do their work."""

from pathlib import Path
from typing import Annotated

import typer

__all__ = ["ConfigOption", "DataOption", "UrlOption", "keys", "sessions"]

UrlOption = Annotated[
    str | None,
    typer.Option(
        "--url",
        metavar="URL",
        help="The server: HOST:PORT or a URL. [env var: AGENTHOST_URL; default: http://127.0.0.1:8642]",
    ),
]

keys = typer.Typer(no_args_is_help=True, help="Create, list and revoke API keys, also while a server runs.")

DataOption = Annotated[
    str | None,
    typer.Option("--data", metavar="DIR", help="The server's data. [default: this user's data folder]"),
]
ConfigOption = Annotated[
    str | None, typer.Option("--config", metavar="FILE.toml", help="The file with the server's settings.")
]


@keys.command("create")
def create_key(
    *,
    owner: Annotated[
        str, typer.Option(metavar="NAME", help="Whose sessions it opens. [default: those without an owner]")
    ] = "",
    name: Annotated[str, typer.Option(metavar="LABEL", help="What to call it in the list.")] = "",
    expires: Annotated[
        str | None,
        typer.Option(metavar="30d", help="For how long it is good, in s, m, h, d or w. [default: always]"),
    ] = None,
    terminals: Annotated[
        bool, typer.Option("--terminals", help="It may open shells, as the user that runs the server.")
    ] = False,
    run: Annotated[
        bool,
        typer.Option("--run", help="It may let agents run programs, as the user that runs the server."),
    ] = False,
    admin: Annotated[
        bool, typer.Option("--admin", help="It may read the metrics and change the server's settings.")
    ] = False,
    grant: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME",
            help="What it may do, in place of sessions and files: sessions, files, terminals, run, admin.",
        ),
    ] = None,
    data: DataOption = None,
    config: ConfigOption = None,
) -> None:
    """Create an API key, and show it: on the standard output, this once.

    It opens the sessions and the files of its owner, and no shell. The options below give it more.
    """
    from agenthost.cli.keys import Wish, create  # noqa: PLC0415 - only these commands need it

    more = {"terminals": terminals, "run": run, "admin": admin}
    added = [one for one, is_wanted in more.items() if is_wanted]
    create({"data": data, "config": config}, Wish(owner, name, expires, grant or [], added))


@keys.command("list")
def list_keys(*, data: DataOption = None, config: ConfigOption = None) -> None:
    """List the API keys, without their secrets."""
    from agenthost.cli.keys import list_all  # noqa: PLC0415 - only these commands need it

    list_all({"data": data, "config": config})


@keys.command("revoke")
def revoke_key(
    key_id: Annotated[str, typer.Argument(metavar="ID", help="Which, as the list calls it.")],
    *,
    data: DataOption = None,
    config: ConfigOption = None,
) -> None:
    """Revoke an API key: a second later it opens nothing any more."""
    from agenthost.cli.keys import revoke  # noqa: PLC0415 - only these commands need it

    revoke({"data": data, "config": config}, key_id)


sessions = typer.Typer(no_args_is_help=True)

KeyOption = Annotated[
    str | None, typer.Option("--key", metavar="KEY", help="The API key. [env var: AGENTHOST_KEY]")
]


@sessions.callback()
def choose_server(
    context: typer.Context,
    *,
    url: UrlOption = None,
    key: Annotated[
        str | None, typer.Option("--key", metavar="KEY", envvar="AGENTHOST_KEY", help="The API key.")
    ] = None,
) -> None:
    """List, show, export, end and delete sessions."""
    # For the command that follows; what is given behind it wins.
    context.default_map = {str(one.name): {"url": url, "key": key} for one in sessions.registered_commands}


@sessions.command("list")
def list_sessions(
    *,
    json: Annotated[bool, typer.Option("--json", help="As JSON, with all that is known of them.")] = False,
    archived: Annotated[bool, typer.Option("--archived", help="Those that were put away, too.")] = False,
    url: UrlOption = None,
    key: KeyOption = None,
) -> None:
    """List the sessions, the newest first."""
    from agenthost.cli.sessions import Where, list_all  # noqa: PLC0415 - only these commands need it

    list_all(Where(url, key), is_json=json, has_archived=archived)


@sessions.command("show")
def show_session(
    name: Annotated[str, typer.Argument(metavar="ID", help="Which; the beginning of its name is enough.")],
    *,
    url: UrlOption = None,
    key: KeyOption = None,
) -> None:
    """Show what was said and done in a session."""
    from agenthost.cli.sessions import Where, show  # noqa: PLC0415 - only these commands need it

    show(Where(url, key), name)


@sessions.command("export")
def export_session(
    name: Annotated[str, typer.Argument(metavar="ID", help="Which; the beginning of its name is enough.")],
    *,
    json: Annotated[
        bool, typer.Option("--json", help="The whole state as JSON, in place of Markdown.")
    ] = False,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", metavar="FILE", help="Where to; else standard output.")
    ] = None,
    url: UrlOption = None,
    key: KeyOption = None,
) -> None:
    """Write a session down: what was said and done in it."""
    from agenthost.cli.sessions import Where, export  # noqa: PLC0415 - only these commands need it

    export(Where(url, key), name, is_json=json, output=output)


@sessions.command("end")
def end_session(
    name: Annotated[str, typer.Argument(metavar="ID", help="Which; the beginning of its name is enough.")],
    *,
    data: DataOption = None,
    config: ConfigOption = None,
    url: UrlOption = None,
    key: KeyOption = None,
) -> None:
    """End the turn of a session, also while no server runs: then in its data folder."""
    from agenthost.cli.sessions import Where, end  # noqa: PLC0415 - only these commands need it

    end(Where(url, key), {"data": data, "config": config}, name)


@sessions.command("delete")
def delete_sessions(
    names: Annotated[list[str], typer.Argument(metavar="ID…", help="Which; beginnings are enough.")],
    *,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
    url: UrlOption = None,
    key: KeyOption = None,
) -> None:
    """Remove sessions, for everybody and for good."""
    from agenthost.cli.sessions import Where, delete  # noqa: PLC0415 - only these commands need it

    delete(Where(url, key), names, is_sure=yes)
