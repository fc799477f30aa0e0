"""Further chats of a session over AHP 1.0, for the tests of edges."""

import itertools
import time
from typing import Any

import pytest

from agenthost.core.times import iso_time
from ahp_channels import USER, ChannelClient
from ahp_frames import Refused

SECOND = "ahp-chat:/second"

_names = itertools.count(1)


async def new_chat(client: ChannelClient, session: str, uri: str = SECOND, **more: Any) -> str:
    """Add a chat to a session, and subscribe to it."""
    await client.request("createChat", channel=session, chat=uri, **more)
    await client.subscribe(uri)
    return uri


async def dispatch_turn(client: ChannelClient, chat: str, text: str, **more: Any) -> str:
    """Start a turn in a chat, and return its id."""
    turn, now = f"d{next(_names)}", iso_time(time.time_ns() // 1_000_000)
    message = {"text": text, "origin": USER, **more}
    echo = await client.decide(chat, "chat/turnStarted", turnId=turn, startedAt=now, message=message)
    assert "rejectionReason" not in echo, echo
    return turn


async def ended_turn(client: ChannelClient, chat: str, turn: str) -> Any:
    """Wait until a turn of a chat has ended, and return it."""
    await client.until(lambda: [one for one in client.state(chat)["turns"] if one["id"] == turn])
    return next(one for one in client.state(chat)["turns"] if one["id"] == turn)


async def refusal(client: ChannelClient, method: str, **params: Any) -> int:
    """Return the code of the error that a request is answered with."""
    with pytest.raises(Refused) as refused:
        await client.request(method, **params)
    code: int = refused.value.code
    return code
