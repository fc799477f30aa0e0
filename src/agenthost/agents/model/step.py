"""One step of a turn with a model. If the conversation is too long, it is compacted and tried again."""

import logging
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from typing import Any

from pydantic_ai.exceptions import AgentRunError, UserError
from pydantic_ai.models import Model

from agenthost.agents.model.errors import ConversationTooLong
from agenthost.agents.model.model_name import ModelName
from agenthost.agents.model.request import CompletionRequest, stream_with_retries
from agenthost.agents.model.response_reader import StepItem
from agenthost.agents.model.summaries import Overflow, find_overflow, summarise
from agenthost.core.compaction import SUMMARY_TOKENS, leave_out, shorten_results, summary_note
from agenthost.core.transcript import Message
from agenthost.errors import ModelFailed
from agenthost.host.authoring.steps import Note, Usage
from agenthost.host.authoring.turn import Turn

__all__ = ["ModelStep"]

log = logging.getLogger("agenthost.model")


@dataclass(slots=True)
class ModelStep:
    """One step of a turn.

    Attributes:
        turn: the turn.
        model: the model.
        name: its name.
        system: the system prompt.
        settings: the settings of requests.
        variables: the environment variables that may hold the API key.
        budget: how many tokens of the transcript the model may get.
        attempts: how often a request is tried before the step fails.
        unsummarised: by session, the turn in which a summary failed; it is not tried again in that turn.
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

    async def run(self) -> AsyncGenerator[StepItem | Usage, None]:
        """Yield the answer. If the service finds the conversation too long, about half of it is sent.

        Raises:
            ModelFailed: there is no answer.
        """
        try:
            async with aclosing(self._ask(self.budget)) as items:
                async for item in items:
                    yield item
        except ConversationTooLong:
            async with aclosing(self._ask(min(self.turn.tokens, self.budget) // 2)) as items:
                async for item in items:
                    yield item

    async def _ask(self, budget: int) -> AsyncGenerator[StepItem | Usage, None]:
        transcript = self.turn.transcript
        found = find_overflow(transcript, budget) if self.turn.tokens > budget else None
        summary = await self._summary(found) if found is not None else None
        if found is not None and summary is not None:
            yield Note(summary_note(found.place, summary))
            kept = leave_out(transcript, found.place, summary, room=3 * SUMMARY_TOKENS)
            messages = shorten_results(kept, budget)
        else:
            messages = self.turn.compacted(budget)
        answer = stream_with_retries(self.turn, self._request(messages), self.variables, self.attempts)
        async with aclosing(answer) as items:
            async for item in items:
                yield item

    def _request(self, messages: list[Message]) -> CompletionRequest:
        return CompletionRequest(
            self.model,
            self.name,
            messages,
            system=self.system,
            tools=self.turn.tools,
            settings=self.settings,
        )

    async def _summary(self, found: Overflow) -> str | None:
        """Let the model summarise the beginning. `None` if that fails: it is then left out instead."""
        session, turn_id = self.turn.session, self.turn.id
        if self.unsummarised.get(session) == turn_id:
            return None
        await self.turn.activity("Summarising the conversation so far")
        try:
            return await summarise(self.model, self.name, found.messages, self.settings)
        except (AgentRunError, UserError, ModelFailed) as error:
            log.warning("no summary by %s: %s: %s", self.name.name, type(error).__name__, error)
            self.unsummarised[session] = turn_id
            return None
        finally:
            await self.turn.activity(None)
