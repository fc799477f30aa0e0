"""`agenthost nodes`: the servers that share a store."""

from collections.abc import Mapping
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import typer

from agenthost.cli.exit_codes import fail
from agenthost.cli.terminal_text import table
from agenthost.errors import StorageError
from agenthost.host.sandbox.environment import hide_argument
from agenthost.host.storage.stores import shared_nodes
from agenthost.settings import SettingsError, read_settings
from agenthost.wire.json import encode_json

if TYPE_CHECKING:
    from agenthost.host.storage.postgres.node_list import ListedNode

_UNITS = (("d", 86_400), ("h", 3_600), ("min", 60))


def list_all(options: Mapping[str, Any], *, is_json: bool, with_dead: bool) -> None:
    """List the nodes of a store."""
    try:
        address = read_settings(options).store
    except SettingsError as error:
        fail(str(error), code=2)
    if address is None:
        fail("only servers on PostgreSQL share a store; name it with --store URL or AGENTHOST_STORE", code=2)
    hide_argument(address.password)
    try:
        nodes = shared_nodes(address, with_dead=with_dead)
    except StorageError as error:
        fail(str(error))
    if is_json:
        typer.echo(encode_json([asdict(node) for node in nodes]))
        return
    if not nodes:
        typer.echo("No server uses this store at present.", err=True)
        return
    head = ("id", "name", "url", "version", "state", "sessions", "up", "last beat")
    typer.echo(table([head, *map(_row, nodes)]))


def _row(node: "ListedNode") -> tuple[str, ...]:
    beat = (
        f"{node.beat_seconds:.1f} s ago" if node.beat_seconds < 60 else f"{_duration(node.beat_seconds)} ago"
    )
    numbers = (str(node.sessions), _duration(node.up_seconds), beat)
    return str(node.id), node.name, node.url or "-", node.version, node.state, *numbers


def _duration(seconds: float) -> str:
    for unit, length in _UNITS:
        if seconds >= length:
            return f"{seconds / length:.0f} {unit}"
    return f"{max(seconds, 0):.0f} s"
