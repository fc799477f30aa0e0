"""`agenthost nodes`: the servers that share a store."""

import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import typer

from agenthost.cli.exit_codes import fail
from agenthost.cli.terminal_text import table
from agenthost.errors import StorageError
from agenthost.host.sandbox.environment import hide_argument
from agenthost.host.storage.stores import drain_node, migrate_store, shared_nodes
from agenthost.host.store_address import StoreAddress
from agenthost.settings import SettingsError, read_settings
from agenthost.wire.json import encode_json

if TYPE_CHECKING:
    from agenthost.host.storage.postgres.node_list import ListedNode

_UNITS = (("d", 86_400), ("h", 3_600), ("min", 60))


LOOK_SECONDS = 0.5


def list_all(options: Mapping[str, Any], *, is_json: bool, with_dead: bool) -> None:
    """List the nodes of a store."""
    address = _address(options)
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
    head = ("id", "name", "url", "version", "level", "state", "sessions", "up", "last beat")
    typer.echo(table([head, *map(_row, nodes)]))


def drain(options: Mapping[str, Any], ids: Sequence[int], wait: int) -> None:
    """Stop some nodes, and wait until they have stopped."""
    address = _address(options)
    try:
        left = {node.id: node.name for node in shared_nodes(address) if node.id in ids}
        for one in ids:
            if one not in left:
                fail(f"no server with the id {one} is alive; `agenthost nodes` lists those that are")
        end = time.monotonic() + wait
        while left and time.monotonic() < end:
            for one in left:
                drain_node(address, one)  # again and again: it may have been without its connection
            time.sleep(LOOK_SECONDS)
            alive = {node.id for node in shared_nodes(address)}
            for one in left.keys() - alive:
                typer.echo(f"{one}: {left.pop(one)} has stopped", err=True)
    except StorageError as error:
        fail(str(error))
    if left:
        names = ", ".join(f"{one} ({name})" for one, name in left.items())
        fail(f"still running after {wait} seconds: {names}; its log says what it waits for")


def migrate(options: Mapping[str, Any], *, is_finish: bool) -> None:
    """Upgrade a store, and say what it is then."""
    address = _address(options)
    try:
        migrated = migrate_store(address, is_finish=is_finish)
    except StorageError as error:
        fail(str(error))
    if migrated.older:
        fail(f"not finished: older servers still use the store: {', '.join(migrated.older)}; stop them first")
    typer.echo(
        f"{address.shown} has schema version {migrated.version}, and is used at level {migrated.level}."
    )
    if migrated.level < migrated.newest:
        typer.echo(
            f"Servers of this version can use level {migrated.newest}. When no older one is needed any more: "
            "agenthost migrate --finish"
        )


def _address(options: Mapping[str, Any]) -> StoreAddress:
    try:
        address = read_settings(options).store
    except SettingsError as error:
        fail(str(error), code=2)
    if address is None:
        fail("only servers on PostgreSQL share a store; name it with --store URL or AGENTHOST_STORE", code=2)
    hide_argument(address.password)
    return address


def _row(node: "ListedNode") -> tuple[str, ...]:
    beat = (
        f"{node.beat_seconds:.1f} s ago" if node.beat_seconds < 60 else f"{_duration(node.beat_seconds)} ago"
    )
    numbers = (str(node.sessions), _duration(node.up_seconds), beat)
    return str(node.id), node.name, node.url or "-", node.version, str(node.level), node.state, *numbers


def _duration(seconds: float) -> str:
    for unit, length in _UNITS:
        if seconds >= length:
            return f"{seconds / length:.0f} {unit}"
    return f"{max(seconds, 0):.0f} s"
