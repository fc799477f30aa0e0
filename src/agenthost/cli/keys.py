"""`agenthost keys`: who may ask the server of a data folder. The server may run meanwhile."""

import re
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, NoReturn

import typer

from agenthost.errors import StorageError
from agenthost.host.keys import ApiKey, KeyFile, KeyNotFound
from agenthost.settings import SettingsError, read_settings

LONGEST_NAME = 100

_UNITS = {"s": 1, "m": 60, "h": 3_600, "d": 86_400, "w": 604_800}


def create(options: Mapping[str, Any], owner: str, name: str, expires: str | None) -> None:
    """Create a key. It alone goes to the standard output, so that a script can take it from there."""
    seconds = None if expires is None else _seconds(expires)
    for option, value in (("--owner", owner), ("--name", name)):
        if len(value) > LONGEST_NAME or not value.isprintable():
            _fail(f"{option}: expected at most {LONGEST_NAME} characters on one line", code=2)
    try:
        key, text = _file(options).create(owner, name, seconds)
    except StorageError as error:
        _fail(str(error))
    typer.echo(text)
    typer.echo(f"This is key {key.id}. It is not shown again: keep it safe.", err=True)


def list_all(options: Mapping[str, Any]) -> None:
    """Show what is known of each key."""
    try:
        keys = _file(options).read()
    except StorageError as error:
        _fail(str(error))
    if not keys:
        typer.echo("There are no keys.", err=True)
        return
    now = datetime.now(UTC).timestamp()
    typer.echo(_table([("id", "owner", "name", "created", "expires"), *(_row(key, now) for key in keys)]))


def revoke(options: Mapping[str, Any], key_id: str) -> None:
    """Remove a key. Where it was the last, nobody comes in any more until there is another."""
    try:
        key = _file(options).revoke(key_id)
    except (StorageError, KeyNotFound) as error:
        _fail(str(error))
    typer.echo(f"Key {key.id} is revoked.")


def _file(options: Mapping[str, Any]) -> KeyFile:
    try:
        return KeyFile(read_settings(options).data)
    except SettingsError as error:
        _fail(str(error), code=2)


def _fail(sentence: str, code: int = 1) -> NoReturn:
    typer.echo(f"agenthost: {sentence}", err=True)
    raise SystemExit(code)


def _seconds(text: str) -> int:
    found = re.fullmatch(r"([1-9][0-9]{0,4})([smhdw])", text)
    if found is None:
        _fail(f"--expires: expected a time such as 12h, 30d or 8w, found {text!r}", code=2)
    return int(found[1]) * _UNITS[found[2]]


def _row(key: ApiKey, now: float) -> tuple[str, ...]:
    expires = "never" if key.expires is None else _time(key.expires)
    note = "" if key.is_valid(now) else " (expired)"
    return key.id, key.owner or "-", key.name or "-", _time(key.created), f"{expires}{note}"


def _time(seconds: int) -> str:
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%d %H:%M:%SZ")


def _table(rows: Sequence[tuple[str, ...]]) -> str:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = ("  ".join(f"{cell:<{width}}" for cell, width in zip(row, widths, strict=True)) for row in rows)
    return "\n".join(line.rstrip() for line in lines)
