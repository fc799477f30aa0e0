"""`agenthost keys`: the API keys of a data folder, or of a store. The server may be running."""

import re
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import typer

from agenthost.cli.exit_codes import fail
from agenthost.cli.places import Place, opened_place
from agenthost.cli.terminal_text import table
from agenthost.commands import command
from agenthost.core.decisions.grants import DEFAULT_GRANTS, GRANTS, Grant
from agenthost.host.access.keys import ApiKey, KeyNotFound

MAX_NAME = 100

OLDER = " (default)"
"""Marks keys that were created before there were grants."""

_UNITS = {"s": 1, "m": 60, "h": 3_600, "d": 86_400, "w": 604_800}


@dataclass(frozen=True, slots=True)
class NewKey:
    """A key to create. Its grants are those that are named, or the default ones; and those that are added."""

    owner: str = ""
    name: str = ""
    expires: str | None = None
    named: Sequence[str] = ()
    added: Sequence[str] = ()


def create(options: Mapping[str, Any], new: NewKey) -> None:
    """Create a key. Nothing else goes to standard output, so that scripts can read it from there."""
    seconds = None if new.expires is None else _seconds(new.expires)
    grants = _grants(new)
    for option, value in (("--owner", new.owner), ("--name", new.name)):
        if len(value) > MAX_NAME or not value.isprintable():
            fail(f"{option}: expected at most {MAX_NAME} characters on one line", code=2)
    with opened_place(options) as place:
        is_first = place.keys.read() is None
        key, text = place.keys.create(new.owner, new.name, seconds, grants)
    typer.echo(text)
    typer.echo(f"Created key {key.id}. Keep it safe: it is not shown again.", err=True)
    typer.echo(_describe_grants(key), err=True)
    if is_first:
        typer.echo(_first_key_notice(new.owner, place), err=True)


def _grants(new: NewKey) -> list[Grant]:
    for name in new.named:
        if name not in GRANTS:
            fail(f"--grant: expected one of {', '.join(GRANTS)}, found {name!r}", code=2)
    wanted = {*(new.named or DEFAULT_GRANTS), *new.added}
    return [grant for grant in GRANTS if grant in wanted]


def _describe_grants(key: ApiKey) -> str:
    """Say what a key may do, with a warning if that includes shells."""
    lines = [f"Its grants: {', '.join(key.given or ())}."]
    if key.grants & {"terminals", "run"}:
        lines.append("Whoever has it can do anything that the user who runs the server can.")
    return " ".join(lines)


def _first_key_notice(owner: str, place: Place) -> str:
    """Explain what the first key changes for clients that connected without one."""
    lines = [
        "This is the first key. From now on the server requires one: whoever is connected without a key is",
        "disconnected, and the token no longer works. The page asks for the key; chat, ask and sessions take",
        "it from --key or AGENTHOST_KEY; other clients send it as `Authorization: Bearer KEY`.",
    ]
    if owner:
        keyless = command("keys", "create", *place.option)
        lines.append(f"Existing sessions have no owner; a key without --owner opens them: {keyless}")
    return "\n".join(lines)


def list_all(options: Mapping[str, Any]) -> None:
    """List the keys, without their secrets."""
    with opened_place(options) as place:
        keys = place.keys.read()
    if not keys:
        typer.echo("There are no keys." if keys is None else "There are no keys left.", err=True)
        return
    now = datetime.now(UTC).timestamp()
    head = ("id", "owner", "name", "created", "expires", "grants")
    typer.echo(table([head, *(_row(key, now) for key in keys)]))
    if any(key.given is None for key in keys):
        typer.echo(
            f"{OLDER.strip()}: created before there were grants, so it has the default ones.", err=True
        )


def revoke(options: Mapping[str, Any], key_id: str) -> None:
    """Remove a key. If it was the last valid one, nobody can connect until there is another."""
    with opened_place(options) as place:
        try:
            key = place.keys.revoke(key_id)
        except KeyNotFound as error:
            fail(f"{error}; to list the keys: {command('keys', 'list', *place.option)}")
        left = place.keys.read() or []
    typer.echo(f"Revoked key {key.id}.")
    if not any(one.is_valid(time.time()) for one in left):
        typer.echo(_last_key_notice(key, place), err=True)


def _last_key_notice(key: ApiKey, place: Place) -> str:
    """Say that nobody can connect without a valid key, and how to change that."""
    owner = ["--owner", key.owner] if key.owner else []
    return (
        "No valid key is left, so nobody can connect now. A revoked key cannot be restored.\n"
        f"To create another one: {command('keys', 'create', *owner, *place.option)}\n"
        f"To go back to the token, without keys: stop the server, then {place.removal}"
    )


def _seconds(text: str) -> int:
    found = re.fullmatch(r"([1-9][0-9]{0,4})([smhdw])", text)
    if found is None:
        fail(f"--expires: expected a duration such as 12h, 30d or 8w, found {text!r}", code=2)
    return int(found[1]) * _UNITS[found[2]]


def _row(key: ApiKey, now: float) -> tuple[str, ...]:
    expires = "never" if key.expires is None else _time(key.expires)
    note = "" if key.is_valid(now) else " (expired)"
    grants = ",".join(one for one in GRANTS if one in key.grants) + (OLDER if key.given is None else "")
    return key.id, key.owner or "-", key.name or "-", _time(key.created), f"{expires}{note}", grants


def _time(seconds: int) -> str:
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%d %H:%M:%SZ")
