"""`agenthost token`: the token of a server without API keys. The server may be running."""

from collections.abc import Mapping
from typing import Any

import typer

from agenthost.cli.exit_codes import fail
from agenthost.cli.keys import data_folder
from agenthost.commands import command
from agenthost.errors import StorageError
from agenthost.host.access.keys import KeyFile
from agenthost.host.access.token_file import TOKEN, TokenFile
from agenthost.settings import data_option


def run(options: Mapping[str, Any], *, is_new: bool, enable: bool | None) -> None:
    """Print the token, alone on standard output; before that, replace, enable or disable it."""
    data = data_folder(options)
    file = TokenFile(data / TOKEN)
    try:
        if is_new:
            file.renew()
        if enable is not None:
            file.enable(is_enabled=enable)
        token, has_keys = file.read(), KeyFile(data).read() is not None
    except StorageError as error:
        fail(str(error))
    if token is None:
        fail(f"there is no token in {data}; to create one: {command('serve', *data_option(data))}")
    if enable is False:
        typer.echo(
            "The token no longer works." if has_keys else "The token works until there are keys.", err=True
        )
        return
    if has_keys and not token.is_enabled:
        way = command("token", "--enable", *data_option(data))
        fail(f"there are API keys, so the token does not work; to enable it all the same: {way}")
    typer.echo(token.text)
