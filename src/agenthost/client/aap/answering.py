"""Answering: what the application does with the calls that a turn waits for.

Its own tools are run, all at the same time; about all others it is asked, one after the other, because it
may be a person who answers. A server need not tell which tools it has.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass

from agenthost.client.aap.permission import Decide, decide
from agenthost.client.aap.tools import ClientTool
from agenthost.wire.aap.v3 import ApplicationMessage, ToolCall, ToolMessage

__all__ = ["Answering"]


@dataclass(frozen=True, slots=True)
class Answering:
    """Answers calls.

    Attributes:
        tools: the application's own, by name.
        server_tools: the names of those of the server, as far as it tells.
        declared: asks for the names of those that the session has of the application, here or not.
        permission: decides about all but these.
        tool_seconds: how long a tool without a time-out of its own may take.
    """

    tools: Mapping[str, ClientTool]
    server_tools: AbstractSet[str]
    declared: Callable[[], Awaitable[AbstractSet[str]]]
    permission: Decide
    tool_seconds: float | None

    async def answer(self, calls: Sequence[ToolCall]) -> list[ApplicationMessage]:
        """Answer all calls, in their order."""
        turn_to_ask = asyncio.Lock()
        async with asyncio.TaskGroup() as group:
            answers = [group.create_task(self._answer(call, turn_to_ask)) for call in calls]
        return [answer.result() for answer in answers]

    async def _answer(self, call: ToolCall, turn_to_ask: asyncio.Lock) -> ApplicationMessage:
        tool = self.tools.get(call["name"])
        if tool is not None:
            content = await tool.run(call["input"], self.tool_seconds)
            return {"role": "tool", "toolCallId": call["toolCallId"], "content": content}
        if call["name"] not in self.server_tools and call["name"] in await self.declared():
            return _missing(call)
        async with turn_to_ask:
            return await decide(self.permission, call)


def _missing(call: ToolCall) -> ToolMessage:
    sentence = f"the application has no tool {call['name']!r} at present"
    return {"role": "tool", "toolCallId": call["toolCallId"], "content": sentence}
