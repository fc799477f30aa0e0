"""Stepping: one step of a turn with a model: what it is given, and less of it if that was too much."""

import logging
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from typing import Any

from pydantic_ai.exceptions import AgentRunError, UserError
from pydantic_ai.models import Model

from agenthost.agents.model.asking import Request, step
from agenthost.agents.model.failing import TooLong
from agenthost.agents.model.naming import ModelName
from agenthost.agents.model.streaming import Item
from agenthost.agents.model.summarising import Overflow, overflow, summarised
from agenthost.core.compaction import SUMMARY_TOKENS, leave_out, shorten_results, summary_note
from agenthost.core.tokens import estimate_tokens
from agenthost.core.transcript import Message
from agenthost.errors import ModelFailed
from agenthost.host.steps import Note, Usage
from agenthost.host.turn import Turn

__all__ = ["Step"]

log = logging.getLogger("agenthost.model")


@dataclass(slots=True)
class Step:
    """One step of a turn.

    Attributes:
        turn: the turn.
        model: who answers.
        name: what it is called.
        system: what it is told before everything else.
        settings: how it is asked.
        variables: where its key is looked for.
        budget: how many tokens of the transcript it is given.
        attempts: how often it is asked before the step fails.
        unsummarised: by session, the turn in which a summary could not be had; it is not tried again in it.
    """

    turn: Turn
    model: Model[Any]
    name: ModelName
    system: str
    settings: Mapping[str, Any]
    variables: Sequence[str]
    budget: int
    attempts: int
    unsummarised: dict[str, str]

    async def run(self) -> AsyncGenerator[Item | Usage, None]:
        """Give the answer. If the service finds the conversation too long, it is given about half of it.

        Raises:
            ModelFailed: there is none.
        """
        try:
            async with aclosing(self._ask(self.budget)) as items:
                async for item in items:
                    yield item
        except TooLong:
            size = sum(map(estimate_tokens, self.turn.transcript))
            async with aclosing(self._ask(min(size, self.budget) // 2)) as items:
                async for item in items:
                    yield item

    async def _ask(self, budget: int) -> AsyncGenerator[Item | Usage, None]:
        transcript = self.turn.transcript
        found = overflow(transcript, budget)
        summary = await self._summary(found) if found is not None else None
        if found is not None and summary is not None:
            yield Note(summary_note(found.place, summary))
            kept = leave_out(transcript, found.place, summary, room=3 * SUMMARY_TOKENS)
            messages = shorten_results(kept, budget)
        else:
            messages = self.turn.agent.compact(transcript, budget)
        asking = step(self.turn, self._request(messages), self.variables, self.attempts)
        async with aclosing(asking) as items:
            async for item in items:
                yield item

    def _request(self, messages: list[Message]) -> Request:
        return Request(
            self.model,
            self.name,
            messages,
            system=self.system,
            tools=self.turn.tools,
            settings=self.settings,
        )

    async def _summary(self, found: Overflow) -> str | None:
        """Have the beginning summarised; nothing if that does not work. It is then left out instead."""
        session, turn_id = self.turn.session, self.turn.id
        if self.unsummarised.get(session) == turn_id:
            return None
        await self.turn.activity("Summarising the conversation so far")
        try:
            return await summarised(self.model, self.name, found.messages, self.settings)
        except (AgentRunError, UserError, ModelFailed) as error:
            log.warning("no summary by %s: %s: %s", self.name.name, type(error).__name__, error)
            self.unsummarised[session] = turn_id
            return None
        finally:
            await self.turn.activity(None)
