"""`agenthost token`: the token of a server without API keys. The server may be running."""

from collections.abc import Mapping
from typing import Any

import typer

from agenthost.cli.exit_codes import fail
from agenthost.cli.places import opened_place
from agenthost.commands import command


def run(options: Mapping[str, Any], *, is_new: bool, enable: bool | None) -> None:
    """Print the token, alone on standard output; before that, replace, enable or disable it."""
    with opened_place(options) as place:
        if is_new:
            place.token.renew()
        if enable is not None:
            place.token.enable(is_enabled=enable)
        token, has_keys = place.token.read(), place.keys.read() is not None
    if token is None:
        fail(f"there is no token in {place.shown}; to create one: {command('serve', *place.option)}")
    if enable is False:
        typer.echo(
            "The token no longer works." if has_keys else "The token works until there are keys.", err=True
        )
        return
    if has_keys and not token.is_enabled:
        way = command("token", "--enable", *place.option)
        fail(f"there are API keys, so the token does not work; to enable it all the same: {way}")
    typer.echo(token.text)
