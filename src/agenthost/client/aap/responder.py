"""The responder: answers the calls that a turn waits for.

The application's own tools run concurrently. For all other calls permission is asked, one after the other,
because a person may have to answer. A server need not list its tools.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass

from agenthost.client.aap.permission import Decide, decide
from agenthost.client.aap.tools import run_call, unknown_tool
from agenthost.client.tools import ClientTool
from agenthost.wire.aap.v3 import ApplicationMessage, ToolCall

__all__ = ["CallResponder"]


@dataclass(frozen=True, slots=True)
class CallResponder:
    """Answers calls.

    Attributes:
        tools: the application's own tools, by name.
        server_tools: the names of the server's tools, as far as it lists them.
        declared: returns the names of the application's tools that the session knows, present or not.
        permission: decides about all other calls.
        tool_seconds: the time limit of tools without a timeout.
    """

    tools: Mapping[str, ClientTool]
    server_tools: AbstractSet[str]
    declared: Callable[[], Awaitable[AbstractSet[str]]]
    permission: Decide
    tool_seconds: float | None

    async def answer(self, calls: Sequence[ToolCall]) -> list[ApplicationMessage]:
        """Return the answers to all calls, in their order. AAP wants them in one request (P7)."""
        asking = asyncio.Lock()
        async with asyncio.TaskGroup() as group:
            answers = [group.create_task(self._answer(call, asking)) for call in calls]
        return [answer.result() for answer in answers]

    async def _answer(self, call: ToolCall, asking: asyncio.Lock) -> ApplicationMessage:
        tool = self.tools.get(call["name"])
        if tool is not None:
            return await run_call(tool, call, self.tool_seconds)
        if call["name"] not in self.server_tools and call["name"] in await self.declared():
            return unknown_tool(call)
        async with asking:
            return await decide(self.permission, call)
