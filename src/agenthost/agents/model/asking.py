"""Asking: one step of a turn is one request to a model, tried again while that may help.

A service that is busy, broken or out of reach is asked again after a while, as long as nothing of its answer
has been shown; people see that as what goes on in the session. Once something was shown, a failure ends the
turn: what was said stays, and the next turn goes on from there.
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

from agenthost.agents.model.failing import failure, is_passing, wait_seconds
from agenthost.agents.model.history import (
    Names,
    definitions,
    gone_tools,
    instructions_of,
    to_history,
    without_links,
)
from agenthost.agents.model.naming import ModelName
from agenthost.agents.model.streaming import Item, Reading
from agenthost.core.transcript import Message
from agenthost.host.steps import CallInput, Text, Thought, Usage
from agenthost.host.turn import Turn
from agenthost.wire.json import JsonObject

__all__ = ["Request", "step"]

DEFAULTS: JsonObject = {"cache": True, "timeout": 300}
"""What a request is made with unless told: services that can keep what they read keep it; patience."""


WANTS_TOOLS = ("anthropic", "bedrock")
"""Services that refuse a history with calls in it, unless there is a tool."""


class Request:
    """A request to a model: what it is to read, which tools it may call, and how."""

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
        if not tools and model.system in WANTS_TOOLS:
            tools = gone_tools(messages)
        self.names = Names(tool["name"] for tool in tools)
        sees_images = bool(model.profile.get("supports_image_input", True))
        self.messages = to_history(messages, model.system, self.names, sees_images=sees_images)
        # Tries are our business: those of the libraries are nowhere to be seen.
        self.settings = cast("ModelSettings", {**DEFAULTS, **settings, "max_retries": 0})
        instructions = instructions_of(system, messages)
        self.parameters = ModelRequestParameters(
            function_tools=definitions(tools, self.names),
            instruction_parts=[InstructionPart(instructions)] if instructions else [],
        )

    def drop_links(self) -> bool:
        """Take out the images that are somewhere else, as one cannot be had; tells whether there were any."""
        kept, self.messages = self.messages, without_links(self.messages)
        return kept != self.messages

    async def stream(self) -> AsyncGenerator[Item | Usage, None]:
        """Send it, and pass on the answer as it comes. Closing this closes the connection."""
        reading = Reading(self.model.system, self.names)
        async with self.model.request_stream(self.messages, self.settings, self.parameters) as stream:
            async for event in stream:
                for item in reading.take(event):
                    yield item
            response = stream.get()
        used = response.usage
        if used.input_tokens or used.output_tokens:
            yield Usage(used.input_tokens, used.output_tokens, None, used.cache_read_tokens or None)
        for item in reading.conclude(response):
            yield item


async def step(
    turn: Turn, request: Request, variables: Sequence[str], attempts: int
) -> AsyncGenerator[Item | Usage, None]:
    """Give the answer to a request, made as often as it takes.

    Raises:
        ModelFailed: it cannot be had.
    """
    attempt = 1
    while True:
        is_shown = False
        try:
            async with aclosing(request.stream()) as items:
                async for item in items:
                    if isinstance(item, Usage):
                        item = _added(turn, item)  # noqa: PLW2901 - what the turn cost, not the step
                    is_shown = is_shown or _shows(item)
                    yield item
                return
        except (httpx2.HTTPError, ValueError) as error:
            # Where a service does not follow links to images the library does; all other errors are its own.
            if is_shown or not request.drop_links():
                raise failure(error, request.name, variables, in_midst=is_shown) from error
        except (AgentRunError, UserError) as error:
            seconds = wait_seconds(error, attempt) if is_passing(error) else None
            if is_shown or seconds is None or attempt >= attempts:
                raise failure(error, request.name, variables, in_midst=is_shown) from error
            attempt += 1
            tries = f"attempt {attempt} of {attempts}"
            await turn.activity(f"{request.name.label} does not answer; {tries} in {seconds:.0f} s")
            await asyncio.sleep(seconds)
            await turn.activity(None)


def _shows(item: Item | Usage) -> bool:
    return isinstance(item, CallInput) or (isinstance(item, Text | Thought) and bool(item.text))


def _added(turn: Turn, used: Usage) -> Usage:
    """Give what the turn cost with this step."""
    before = turn.usage
    model = turn.model
    return Usage(
        int(before.get("inputTokens", 0)) + (used.input_tokens or 0),
        int(before.get("outputTokens", 0)) + (used.output_tokens or 0),
        model.id if model else None,
        int(before.get("cacheReadTokens", 0)) + (used.cache_read_tokens or 0) or None,
    )
