"""`agenthost chat`: an agent at the terminal, over AHP, together with whoever else is in the session.

`conversation` is a session at a terminal: `story` and `hearing` (what happened, who did it), `view` (how it
looks), `attendance`, `deciding` and `asking` (what somebody has to say), `commands`. A terminal is a `face`:
`screen` has a cursor (`layout`, `keys`, `history`, `completing`), `plain` has none, and `piped` needs none.
"""

import asyncio
import os
import secrets
import sys

from agenthost.cli.chat.opening import Wish
from agenthost.cli.ending import fail, plain_ends
from agenthost.client.ahp import AhpClient, AuthRequired, Unauthorized, Unreachable

__all__ = ["Wish", "run"]


def run(wish: Wish) -> None:
    """Chat, and end with 0; with 1 if it cannot be, with 2 if what was asked for makes no sense."""
    with plain_ends(wish.url, unreachable=Unreachable, unauthorized=Unauthorized):
        wish.check()
        try:
            code = asyncio.run(_chat(wish, _message()))
        except AuthRequired as error:
            names = [one["resource"] for one in error.resources]
            fail(f"the agent needs a token: --token RESOURCE=TOKEN, for {', '.join(names) or 'what it uses'}")
    raise SystemExit(code)


def _message() -> str | None:
    """Read what is piped in; None if somebody sits there.

    Raises:
        ValueError: nothing is.
    """
    if sys.stdin is None:
        raise ValueError("there is nothing to say: the standard input is closed")
    if sys.stdin.isatty():
        return None
    text = sys.stdin.read().rstrip("\n")
    if not text.strip():
        raise ValueError("there is nothing to say: the standard input is empty")
    return text


async def _chat(wish: Wish, message: str | None) -> int:
    name = f"chat-{secrets.token_hex(3)}"
    async with AhpClient(wish.url, key=wish.key or None, client_id=name, name="agenthost chat") as client:
        if message is not None:
            from agenthost.cli.chat.piped import answer_piped  # noqa: PLC0415 - needs none of the rest

            return await answer_piped(client, wish, message)
        from agenthost.cli.chat.sitting import Sitting  # noqa: PLC0415 - what paints takes its time to import

        return await Sitting(client, wish, has_cursor=_has_cursor()).run()


def _has_cursor() -> bool:
    return sys.stdout.isatty() and os.environ.get("TERM", "dumb") not in ("dumb", "")
