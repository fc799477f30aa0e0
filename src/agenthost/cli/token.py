"""`agenthost token`: what opens a server that has no keys. The server may run meanwhile."""

from collections.abc import Mapping
from typing import Any

import typer

from agenthost.cli.keys import data_of, fail
from agenthost.commands import command
from agenthost.errors import StorageError
from agenthost.host.keys import KeyFile
from agenthost.host.tokenfile import TOKEN, TokenFile
from agenthost.settings import data_option


def run(options: Mapping[str, Any], *, is_new: bool, enable: bool | None) -> None:
    """Print the token, alone on the standard output; before that, renew it, or let it work beside keys."""
    data = data_of(options)
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
        fail(f"there is no token in {data}: `{command('serve', *data_option(data))}` makes one")
    if enable is False:
        typer.echo("The token opens nothing now." if has_keys else "It works until there are keys.", err=True)
        return
    if has_keys and not token.is_enabled:
        way = command("token", "--enable", *data_option(data))
        fail(f"there are API keys, so the token opens nothing; to let it in beside them: `{way}`")
    typer.echo(token.text)
