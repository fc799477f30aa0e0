"""pydantic-ai agents as agents of the host. They run their own loop and tools; the host shows all of it.

What the agent defers (tools that need approval, tools of the application or of the host) becomes calls of the
host. After a restart, what was said and done is said again from what was kept (`progress`), and only the
request that was interrupted is made again.
"""

from collections.abc import Callable
from typing import Any, Unpack

from pydantic_ai import Agent as AiAgent
from pydantic_ai import DeferredToolRequests, DeferredToolResults, ToolApproved, ToolDenied
from pydantic_ai.capabilities import ReinjectSystemPrompt
from pydantic_ai.exceptions import AgentRunError, UserError
from pydantic_ai.messages import (
    FunctionToolCallEvent,
    FunctionToolResultEvent,
    ModelMessage,
    PartDeltaEvent,
    PartStartEvent,
    TextPart,
    TextPartDelta,
    ThinkingPart,
    ThinkingPartDelta,
    ToolCallPart,
    ToolReturnPart,
)
from pydantic_ai.toolsets import ExternalToolset
from pydantic_core import to_json

from agenthost.agents.adapters.progress import Progress, Stage
from agenthost.agents.model.failing import failure
from agenthost.agents.model.history import Names, definitions, to_history
from agenthost.agents.model.naming import ModelName
from agenthost.host.agent import Agent, Description
from agenthost.host.reports import ReportedCall
from agenthost.host.steps import Call, Usage
from agenthost.host.toolresults import ToolResult
from agenthost.host.turn import Turn
from agenthost.wire.ahp.toolcall import ConfirmationOption
from agenthost.wire.json import MAX_GIVEN_DEPTH, decode_json

__all__ = ["PydanticAgent"]

OPTIONS: list[ConfirmationOption] = [
    {"id": "allow-once", "label": "Allow once", "kind": "approve"},
    {"id": "deny", "label": "Deny", "kind": "deny", "group": 1},
]

INTERRUPTED = "The host was restarted while this ran; whether it did its work is unknown."


class PydanticAgent(Agent):
    """A pydantic-ai agent, as it is: `PydanticAgent("weather", agent)`.

    Its own tools run as it runs them, and are shown; those that need approval are asked for. The tools of the
    application, and those declared here, it may call beside them. `deps` are its dependencies, or a function
    that makes them for a turn.
    """

    images = ("http", "data")

    def __init__(
        self,
        name: str,
        agent: "AiAgent[Any, Any]",
        *,
        deps: Any | Callable[[Turn], Any] = None,
        **declared: Unpack[Description],
    ) -> None:
        self.agent = agent
        self._deps = deps
        super().__init__(name, **declared)

    async def answer(self, turn: Turn) -> None:
        """Let the agent run, and show what it does."""
        deps = self._deps(turn) if callable(self._deps) else self._deps
        try:
            await _Run(self, turn, deps).go()
        except (AgentRunError, UserError) as error:
            raise failure(error, _name_of(self.agent), (), in_midst=False) from error


class _Run:
    """One turn of an agent, in as many runs as it takes."""

    def __init__(self, host_agent: PydanticAgent, turn: Turn, deps: Any) -> None:
        self._agent = host_agent.agent
        self._turn = turn
        self._deps = deps
        self._names = Names(())
        self._tools = definitions(turn.tools, self._names)
        history = turn.history()
        before = host_agent.compact([*history, turn.transcript[len(history)]], host_agent.budget(None))
        self._before: list[ModelMessage] = to_history(before, "", self._names)
        self._progress = Progress.of(turn)
        self._calls: dict[str, ReportedCall] = {}

    async def go(self) -> None:
        """Go on until there is nothing left to do."""
        waiting = await self._say_again()
        if self._is_over():
            return
        while True:
            results = None if waiting is None else await self._settled(waiting)
            output = await self._run(results)
            if not isinstance(output, DeferredToolRequests):
                break
            waiting = output
        if not isinstance(output, str):
            await self._turn.say(to_json(output, indent=2).decode())

    def _is_over(self) -> bool:
        """Tell whether a run before the restart had come to its end."""
        stages = self._progress.stages()
        return bool(stages) and not stages[-1].response.tool_calls and not self._progress.waiting()

    async def _run(self, results: DeferredToolResults | None) -> Any:
        kinds: Any = [self._agent.output_type, DeferredToolRequests]
        async with self._agent.run_stream_events(
            None,
            message_history=[*self._before, *self._progress.messages],
            deferred_tool_results=results,
            output_type=kinds,
            toolsets=[ExternalToolset(self._tools)],
            capabilities=[ReinjectSystemPrompt()],
            deps=self._deps,
        ) as events:
            async for event in events:
                if isinstance(event, PartStartEvent | FunctionToolCallEvent):
                    await self._note(events.all_messages())
                await self._show(event)
            await self._note(events.all_messages())
            usage = events.usage
            await self._turn.use(Usage(usage.input_tokens, usage.output_tokens))
            return events.result.output if events.result else ""

    async def _note(self, messages: list[ModelMessage]) -> None:
        new = messages[len(self._before) :]
        if len(new) != len(self._progress.messages):
            self._progress.messages = new
            self._progress.has_begun = False
            await self._progress.keep(self._turn)

    # Showing

    async def _show(self, event: Any) -> None:
        match event:
            case (
                PartStartEvent(part=TextPart(content=text))
                | PartDeltaEvent(delta=TextPartDelta(content_delta=text))
            ):
                await self._turn.say(text)
            case (
                PartStartEvent(part=ThinkingPart(content=text))
                | PartDeltaEvent(delta=ThinkingPartDelta(content_delta=str(text)))
            ):
                await self._turn.think(text)
            case FunctionToolCallEvent(part=call):
                await self._begin(call)
            case FunctionToolResultEvent(part=part):
                self._end(part)

    async def _begin(self, call: ToolCallPart) -> None:
        """Let a call of the agent's own appear; those of others are made later, by the host."""
        if call.tool_call_id in self._progress.kinds:
            return
        is_elsewhere = any(one.name == call.tool_name for one in self._tools)
        self._progress.kinds[call.tool_call_id] = "elsewhere" if is_elsewhere else "own"
        if not is_elsewhere:
            self._report(call)
            if not _needs_approval(self._agent, call.tool_name):
                self._calls[call.tool_call_id].run()
        await self._progress.keep(self._turn)

    def _report(self, call: ToolCallPart) -> ReportedCall:
        if call.tool_call_id not in self._calls:
            self._calls[call.tool_call_id] = self._turn.report(call.tool_name, call.args_as_dict())
        return self._calls[call.tool_call_id]

    def _end(self, part: ToolReturnPart) -> None:
        call = self._calls.get(part.tool_call_id)
        if call is None or call.is_over:
            return
        text = part.model_response_str()
        if part.outcome == "success":
            value = part.content if isinstance(part.content, dict) else None
            call.complete(ToolResult(text, decode_json(to_json(value), MAX_GIVEN_DEPTH) if value else None))
        else:
            call.fail(text)

    # What others decide and do

    async def _settled(self, requests: DeferredToolRequests) -> DeferredToolResults:
        """Get what the agent asks others for; after a restart, what was decided and done is not again."""
        was_begun = self._progress.has_begun
        kinds = self._progress.kinds
        kinds |= dict.fromkeys((call.tool_call_id for call in requests.approvals), "asked")
        kinds |= dict.fromkeys((call.tool_call_id for call in requests.calls), "elsewhere")
        await self._progress.keep(self._turn)
        results = DeferredToolResults()
        for call in requests.approvals:
            decision = await self._report(call).ask(OPTIONS)
            denied = ToolDenied(f"Tool call denied: {decision.reason}".removesuffix(": "))
            interrupted = ToolDenied(INTERRUPTED) if was_begun else ToolApproved()
            results.approvals[call.tool_call_id] = interrupted if decision.approved else denied
        made = [Call(self._names.back(call.tool_name), call.args_as_dict()) for call in requests.calls]
        for call, result in zip(requests.calls, await self._turn.calls(*made), strict=True):
            results.calls[call.tool_call_id] = str(result)
        self._progress.has_begun = True
        await self._progress.keep(self._turn)
        return results

    # After a restart

    async def _say_again(self) -> DeferredToolRequests | None:
        """Say what was said and done before a restart; gives what others are still asked for."""
        self._progress.close_own(INTERRUPTED)
        stages = self._progress.stages()
        waiting = self._progress.waiting()
        for stage in stages:
            await self._say_stage(stage)
            is_waiting = waiting is not None and stage is stages[-1]
            if not is_waiting:
                await self._settle_again(stage)
        return waiting

    async def _say_stage(self, stage: Stage) -> None:
        for part in stage.response.parts:
            if isinstance(part, TextPart):
                await self._turn.say(part.content)
            elif isinstance(part, ThinkingPart):
                await self._turn.think(part.content)
        for call in stage.calls(self._progress.kinds, "own"):
            self._report(call).run()
            if call.tool_call_id in stage.returned:
                self._end(stage.returned[call.tool_call_id])

    async def _settle_again(self, stage: Stage) -> None:
        for call in stage.calls(self._progress.kinds, "asked"):
            await self._report(call).ask(OPTIONS)
            if call.tool_call_id in stage.returned:
                self._end(stage.returned[call.tool_call_id])
        made = stage.calls(self._progress.kinds, "elsewhere")
        await self._turn.calls(*(Call(self._names.back(one.tool_name), one.args_as_dict()) for one in made))


def _needs_approval(agent: "AiAgent[Any, Any]", name: str) -> bool:
    """Tell whether a tool is known to need approval, so that it is not shown to run before."""
    for toolset in agent.toolsets:
        tools: Any = getattr(toolset, "tools", {})
        if isinstance(tools, dict) and getattr(tools.get(name), "requires_approval", False):
            return True
    return False


def _name_of(agent: "AiAgent[Any, Any]") -> ModelName:
    model: Any = agent.model
    if isinstance(model, str):
        service, _, name = model.rpartition(":")
        return ModelName(service or "the model", name)
    return ModelName(getattr(model, "system", "the model"), getattr(model, "model_name", ""))
