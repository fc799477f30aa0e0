"""An application and its user, over either protocol: what they say, allow and bring, and what they get."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from agenthost.client import AapClient, AhpClient, Permission
from agenthost.client.ahp import TurnFailed, answer_text, stop_reason_of


@dataclass
class Outcome:
    """What came of a turn."""

    text: str = ""
    thoughts: str = ""
    stop: str = ""
    pieces: list[str] = field(default_factory=list)
    error: str = ""


def paint(colour: str) -> str:
    """Paint the window of the application."""
    return f"painted {colour}"


class OverAap:
    """Over AAP."""

    def __init__(self, url: str, agent: str) -> None:
        self._client = AapClient(f"{url}/aap", permission=self._decide)
        self._agent = agent
        self.may: bool | None = None
        self.session: Any = None

    def _decide(self, _call: Any) -> Permission:
        return Permission(bool(self.may), None if self.may else "not today")

    @asynccontextmanager
    async def open(self) -> AsyncIterator["OverAap"]:
        async with self._client as client:
            self.session = await client.create(self._agent, server_tools=["clock"], tools=[paint])
            yield self

    async def say(self, text: str) -> Outcome:
        turn = self.session.send(text)
        outcome = Outcome()
        async for event in turn:
            if event["event"] == "text_delta":
                outcome.pieces.append(event["delta"])
            elif event["event"] == "thinking_delta":
                outcome.thoughts += event["delta"]
        answer = await turn.answer()
        outcome.text, outcome.stop = "".join(outcome.pieces), answer.stop_reason
        return outcome


class OverAhp:
    """Over AHP."""

    def __init__(self, url: str, agent: str) -> None:
        self._client = AhpClient(f"{url.replace('http', 'ws', 1)}/ahp")
        self._agent = agent
        self.may: bool | None = None
        self.session: Any = None

    @asynccontextmanager
    async def open(self) -> AsyncIterator["OverAhp"]:
        async with self._client as client:
            self.session = await client.create(self._agent)
            await self.session.become_active([paint])
            deciding = asyncio.create_task(self._decide())
            try:
                yield self
            finally:
                deciding.cancel()

    async def _decide(self) -> None:
        while True:
            await self.session.until(lambda _: self.session.open_calls)
            for call in self.session.open_calls:
                if self.may:
                    await self.session.approve(call)
                else:
                    await self.session.deny(call, "not today")

    async def say(self, text: str) -> Outcome:
        saying = self.session.say(text)
        try:
            pieces = [piece async for piece in saying]
            turn = await saying.turn()
        except TurnFailed as failed:
            turn = self.session.turns[-1]
            return Outcome(answer_text(turn), stop="error", error=str(failed))
        thoughts = "".join(part["content"] for part in turn["responseParts"] if part["kind"] == "reasoning")
        return Outcome(answer_text(turn), thoughts, stop_reason_of(turn) or "end_turn", pieces)


PROTOCOLS: dict[str, Callable[[str, str], Any]] = {"AAP": OverAap, "AHP": OverAhp}
