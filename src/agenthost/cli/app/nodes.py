"""The group `agenthost nodes`."""

from typing import Annotated

import typer

from agenthost.cli.app.help import PlainCommand
from agenthost.cli.app.parameters import ConfigOption, StoreOption

__all__ = ["nodes"]

nodes = typer.Typer(help="List or drain the servers that share a store.")


@nodes.callback(invoke_without_command=True)
def list_nodes(
    context: typer.Context,
    *,
    with_dead: Annotated[
        bool, typer.Option("--all", help="List those too that have ended or were taken for dead.")
    ] = False,
    json: Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")] = False,
    store: StoreOption = None,
    config: ConfigOption = None,
) -> None:
    """List the servers that share a store.

    Each run of a server is a node, with an id of its own.
    """
    if context.invoked_subcommand is not None:
        context.default_map = {context.invoked_subcommand: {"store": store, "config": config}}
        return
    from agenthost.cli.nodes import list_all  # noqa: PLC0415

    list_all({"store": store, "config": config}, is_json=json, with_dead=with_dead)


@nodes.command("drain", cls=PlainCommand)
def drain_nodes(
    ids: Annotated[list[int], typer.Argument(metavar="ID", help="The ids that `agenthost nodes` shows.")],
    *,
    wait: Annotated[
        int, typer.Option(min=1, metavar="SECONDS", help="How long to wait until they have stopped.")
    ] = 60,
    store: StoreOption = None,
    config: ConfigOption = None,
) -> None:
    """Let the turns of servers end, and stop them. Others take over their sessions.

    How long turns have is --drain of each server. The exit code is 1 if one still runs after --wait.
    """
    from agenthost.cli.nodes import drain  # noqa: PLC0415

    drain({"store": store, "config": config}, ids, wait)
