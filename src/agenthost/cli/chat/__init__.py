"""`agenthost chat`: a session at the terminal, over AHP. Its modules import `render` and `terminal`.

`app` runs one `conversation` after another. A conversation reads messages and `commands`, and asks for
`approvals` and answers to `questions`, also those of subagents (`subagent_approvals`). `pipe` is the chat
without a terminal.
"""

import asyncio
import os
import secrets
import sys

from agenthost.cli.chat.options import ChatOptions
from agenthost.cli.exit_codes import exit_on_error, fail
from agenthost.client.ahp import AhpClient, AuthRequired, Unauthorized, Unreachable

__all__ = ["ChatOptions", "run"]


def run(options: ChatOptions) -> None:
    """Chat, and exit with 0; with 1 if that fails, with 2 if the options make no sense."""
    with exit_on_error(options.url, unreachable=Unreachable, unauthorized=Unauthorized):
        options.check()
        try:
            code = asyncio.run(_chat(options, _read_piped_message()))
        except AuthRequired as error:
            names = [one["resource"] for one in error.resources]
            fail(f"the agent needs a token: --token RESOURCE=TOKEN, for {', '.join(names) or 'what it uses'}")
    raise SystemExit(code)


def _read_piped_message() -> str | None:
    """Read the message from standard input; None if that is a terminal.

    Raises:
        ValueError: there is no message.
    """
    if sys.stdin is None:
        raise ValueError("there is nothing to say: standard input is closed")
    if sys.stdin.isatty():
        return None
    text = sys.stdin.read().rstrip("\n")
    if not text.strip():
        raise ValueError("there is nothing to say: standard input is empty")
    return text


async def _chat(options: ChatOptions, message: str | None) -> int:
    client_id = f"chat-{secrets.token_hex(3)}"
    async with AhpClient(
        options.url, key=options.key or None, client_id=client_id, name="agenthost chat"
    ) as client:
        if message is not None:
            from agenthost.cli.chat.pipe import answer_piped  # noqa: PLC0415 - needs neither of the next

            return await answer_piped(client, options, message)
        from agenthost.cli.chat.app import ChatApp  # noqa: PLC0415 - prompt_toolkit and rich load slowly

        return await ChatApp(client, options, has_cursor=_has_cursor()).run()


def _has_cursor() -> bool:
    return sys.stdout.isatty() and os.environ.get("TERM", "dumb") not in ("dumb", "")
