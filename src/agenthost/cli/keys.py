"""`agenthost keys`: who may ask the server of a data folder. The server may run meanwhile."""

import re
import shlex
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NoReturn

import typer

from agenthost.commands import command
from agenthost.core.decisions.grants import DEFAULT_GRANTS, GRANTS, Grant
from agenthost.errors import StorageError
from agenthost.host.keys import ApiKey, KeyFile, KeyNotFound
from agenthost.settings import SettingsError, data_option, read_settings

LONGEST_NAME = 100

OLDER = " (default)"
"""What marks keys from before there were grants."""

_UNITS = {"s": 1, "m": 60, "h": 3_600, "d": 86_400, "w": 604_800}


@dataclass(frozen=True, slots=True)
class Wish:
    """How a key is to be: its grants are those that are named, or the usual ones, and what is added."""

    owner: str = ""
    name: str = ""
    expires: str | None = None
    named: Sequence[str] = ()
    added: Sequence[str] = ()


def create(options: Mapping[str, Any], wish: Wish) -> None:
    """Create a key. It alone goes to the standard output, so that a script can take it from there."""
    seconds = None if wish.expires is None else _seconds(wish.expires)
    grants = _grants(wish)
    for option, value in (("--owner", wish.owner), ("--name", wish.name)):
        if len(value) > LONGEST_NAME or not value.isprintable():
            fail(f"{option}: expected at most {LONGEST_NAME} characters on one line", code=2)
    data = data_of(options)
    file = KeyFile(data)
    try:
        is_first = file.read() is None
        key, text = file.create(wish.owner, wish.name, seconds, grants)
    except StorageError as error:
        fail(str(error))
    typer.echo(text)
    typer.echo(f"This is key {key.id}. It is not shown again: keep it safe.", err=True)
    typer.echo(_worth(key), err=True)
    if is_first:
        typer.echo(_first(wish.owner, data), err=True)


def _grants(wish: Wish) -> list[Grant]:
    for name in wish.named:
        if name not in GRANTS:
            fail(f"--grant: expected one of {', '.join(GRANTS)}, found {name!r}", code=2)
    wanted = {*(wish.named or DEFAULT_GRANTS), *wish.added}
    return [grant for grant in GRANTS if grant in wanted]


def _worth(key: ApiKey) -> str:
    """Say what a key may do, and how much that is where it is a shell."""
    lines = [f"Its grants: {', '.join(key.given or ())}."]
    if key.grants & {"terminals", "run"}:
        lines.append("Whoever has it can do all that the user can who runs the server.")
    return " ".join(lines)


def _first(owner: str, data: Path) -> str:
    """Say what the first key changes for those who came in without one."""
    lines = [
        "It is the first one. From now on nobody gets in without a key, and a running server disconnects",
        "who is in without one, also by its token. The page asks for it; chat, ask and sessions take it from",
        "--key or AGENTHOST_KEY; other clients send it as `Authorization: Bearer KEY`.",
    ]
    if owner:
        keyless = command("keys", "create", *data_option(data))
        lines.append(f"Sessions made so far have no owner; a key made without --owner opens them: {keyless}")
    return "\n".join(lines)


def list_all(options: Mapping[str, Any]) -> None:
    """Show what is known of each key."""
    try:
        keys = KeyFile(data_of(options)).read()
    except StorageError as error:
        fail(str(error))
    if not keys:
        typer.echo("There are no keys." if keys is None else "There are no keys any more.", err=True)
        return
    now = datetime.now(UTC).timestamp()
    head = ("id", "owner", "name", "created", "expires", "grants")
    typer.echo(_table([head, *(_row(key, now) for key in keys)]))
    if any(key.given is None for key in keys):
        typer.echo(f"{OLDER.strip()}: made before there were grants, so with the usual ones.", err=True)


def revoke(options: Mapping[str, Any], key_id: str) -> None:
    """Remove a key. Where it was the last, nobody comes in any more until there is another."""
    data = data_of(options)
    file = KeyFile(data)
    try:
        key = file.revoke(key_id)
        left = file.read() or []
    except KeyNotFound as error:
        fail(f"{error}; `{command('keys', 'list', *data_option(data))}` shows which there are")
    except StorageError as error:
        fail(str(error))
    typer.echo(f"Key {key.id} is revoked.")
    if not any(one.is_valid(time.time()) for one in left):
        typer.echo(_last(key, file.path, data), err=True)


def _last(key: ApiKey, path: Path, data: Path) -> str:
    """Say who gets in when no key is left, and how to change that."""
    owner = ["--owner", key.owner] if key.owner else []
    return (
        "No key is left that is valid: nobody gets in now, and a key that is revoked does not come back.\n"
        f"To let this owner in again: {command('keys', 'create', *owner, *data_option(data))}\n"
        "To do without keys, so that the token in the data folder is enough again: stop the server, and\n"
        f"remove the file: rm {shlex.quote(str(path))}"
    )


def data_of(options: Mapping[str, Any]) -> Path:
    """Return the data folder. One that was named has to be there: the name may be a slip."""
    try:
        data = read_settings(options).data
    except SettingsError as error:
        fail(str(error), code=2)
    if data_option(data) and not data.is_dir():
        new = f"if a new server is to keep its data there, make it first: mkdir -p {shlex.quote(str(data))}"
        fail(f"there is no folder {data}, so there are no keys; {new}")
    return data


def fail(sentence: str, code: int = 1) -> NoReturn:
    """Say on the standard error why it does not go on, and end."""
    typer.echo(f"agenthost: {sentence}", err=True)
    raise SystemExit(code)


def _seconds(text: str) -> int:
    found = re.fullmatch(r"([1-9][0-9]{0,4})([smhdw])", text)
    if found is None:
        fail(f"--expires: expected a time such as 12h, 30d or 8w, found {text!r}", code=2)
    return int(found[1]) * _UNITS[found[2]]


def _row(key: ApiKey, now: float) -> tuple[str, ...]:
    expires = "never" if key.expires is None else _time(key.expires)
    note = "" if key.is_valid(now) else " (expired)"
    grants = ",".join(one for one in GRANTS if one in key.grants) + (OLDER if key.given is None else "")
    return key.id, key.owner or "-", key.name or "-", _time(key.created), f"{expires}{note}", grants


def _time(seconds: int) -> str:
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%d %H:%M:%SZ")


def _table(rows: Sequence[tuple[str, ...]]) -> str:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = ("  ".join(f"{cell:<{width}}" for cell, width in zip(row, widths, strict=True)) for row in rows)
    return "\n".join(line.rstrip() for line in lines)
