"""A request to a model, and its retries.

A service that is busy, failing or unreachable is asked again after a delay, as long as nothing of its answer
has been shown; the session's activity says so. Once something was shown, a failure ends the turn: what was
said is kept, and the next turn continues from there.
"""

import asyncio
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import aclosing
from typing import Any, cast

import httpx2
from pydantic_ai.exceptions import AgentRunError, UserError
from pydantic_ai.messages import InstructionPart
from pydantic_ai.models import Model, ModelRequestParameters
from pydantic_ai.settings import ModelSettings

from agenthost.agents.model.errors import is_transient, model_failure, retry_delay
from agenthost.agents.model.history import (
    ToolNames,
    collect_instructions,
    removed_tools,
    replace_image_links,
    to_history,
    tool_definitions,
)
from agenthost.agents.model.model_name import ModelName
from agenthost.agents.model.response_reader import ResponseReader, StepItem
from agenthost.core.transcript import Message
from agenthost.host.authoring.steps import CallInput, Text, Thought, Usage
from agenthost.host.authoring.turn import Turn
from agenthost.wire.json import JsonObject

__all__ = ["CompletionRequest", "stream_with_retries"]

DEFAULTS: JsonObject = {"cache": True, "timeout": 300}
"""Default settings: prompt caching where the service needs to be told, and a long timeout."""

NEEDS_TOOLS = ("anthropic", "bedrock")
"""Services that refuse a history with tool calls if no tools are defined."""


class CompletionRequest:
    """A request to a model: the messages, the tools and the settings."""

    def __init__(
        self,
        model: Model[Any],
        name: ModelName,
        messages: list[Message],
        *,
        system: str = "",
        tools: Any = (),
        settings: Mapping[str, Any],
    ) -> None:
        self.model = model
        self.name = name
        if not tools and model.system in NEEDS_TOOLS:
            tools = removed_tools(messages)
        self.names = ToolNames(tool["name"] for tool in tools)
        sees_images = bool(model.profile.get("supports_image_input", True))
        self.messages = to_history(messages, model.system, self.names, sees_images=sees_images)
        # We retry ourselves: people cannot see the retries of the library.
        self.settings = cast("ModelSettings", {**DEFAULTS, **settings, "max_retries": 0})
        instructions = collect_instructions(system, messages)
        self.parameters = ModelRequestParameters(
            function_tools=tool_definitions(tools, self.names),
            instruction_parts=[InstructionPart(instructions)] if instructions else [],
        )

    def drop_image_links(self) -> bool:
        """Replace linked images by text, as one cannot be fetched. Tell whether there were any."""
        kept, self.messages = self.messages, replace_image_links(self.messages)
        return kept != self.messages

    async def stream(self) -> AsyncGenerator[StepItem | Usage, None]:
        """Send the request, and yield the answer as it streams. Closing this closes the connection."""
        reader = ResponseReader(self.model.system, self.names)
        async with self.model.request_stream(self.messages, self.settings, self.parameters) as stream:
            async for event in stream:
                for item in reader.read(event):
                    yield item
            response = stream.get()
        used = response.usage
        if used.input_tokens or used.output_tokens:
            yield Usage(used.input_tokens, used.output_tokens, None, used.cache_read_tokens or None)
        for item in reader.finish(response):
            yield item


async def stream_with_retries(
    turn: Turn, request: CompletionRequest, variables: Sequence[str], attempts: int
) -> AsyncGenerator[StepItem | Usage, None]:
    """Yield the answer to a request, and retry while nothing of it was shown.

    Raises:
        ModelFailed: there is no answer.
    """
    attempt = 1
    while True:
        is_visible = False
        try:
            async with aclosing(request.stream()) as items:
                async for item in items:
                    if isinstance(item, Usage):
                        item = _add_to_turn(turn, item)  # noqa: PLW2901 - the usage of the turn, not of the step
                    is_visible = is_visible or _is_visible(item)
                    yield item
                return
        except (httpx2.HTTPError, ValueError) as error:
            # The library fetches linked images for services that do not, and lets those errors through.
            if is_visible or not request.drop_image_links():
                raise model_failure(error, request.name, variables, mid_answer=is_visible) from error
        except (AgentRunError, UserError) as error:
            seconds = retry_delay(error, attempt) if is_transient(error) else None
            if is_visible or seconds is None or attempt >= attempts:
                raise model_failure(error, request.name, variables, mid_answer=is_visible) from error
            attempt += 1
            tries = f"attempt {attempt} of {attempts}"
            await turn.activity(f"{request.name.label} does not answer; {tries} in {seconds:.0f} s")
            await asyncio.sleep(seconds)
            await turn.activity(None)


def _is_visible(item: StepItem | Usage) -> bool:
    return isinstance(item, CallInput) or (isinstance(item, Text | Thought) and bool(item.text))


def _add_to_turn(turn: Turn, used: Usage) -> Usage:
    """Return the usage of the turn including this step."""
    before = turn.usage
    model = turn.model
    return Usage(
        int(before.get("inputTokens", 0)) + (used.input_tokens or 0),
        int(before.get("outputTokens", 0)) + (used.output_tokens or 0),
        model.id if model else None,
        int(before.get("cacheReadTokens", 0)) + (used.cache_read_tokens or 0) or None,
    )
