"""An ACP agent that says what it is told, written with the protocol's library."""

import asyncio
from typing import Any
from uuid import uuid4

from acp import (
    InitializeResponse,
    NewSessionResponse,
    PromptResponse,
    run_agent,
    text_block,
    update_agent_message,
)
from acp.interfaces import Client


class EchoAgent:
    _conn: Client

    def on_connect(self, conn: Client) -> None:
        self._conn = conn

    async def initialize(self, protocol_version: int, **_: Any) -> InitializeResponse:
        return InitializeResponse(protocol_version=protocol_version)

    async def new_session(self, **_: Any) -> NewSessionResponse:
        return NewSessionResponse(session_id=uuid4().hex)

    async def prompt(self, session_id: str, prompt: list[Any], **_: Any) -> PromptResponse:
        for block in prompt:
            await self._conn.session_update(
                session_id, update_agent_message(text_block(getattr(block, "text", "?")))
            )
        return PromptResponse(stop_reason="end_turn")


agent: Any = EchoAgent()
asyncio.run(run_agent(agent))
