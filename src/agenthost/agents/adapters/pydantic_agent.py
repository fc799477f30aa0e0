"""pydantic-ai agents as agents of the host. They run their own loop and tools, and the host shows it.

Deferred calls (tools that need approval, tools of the application or of the host) become calls of the host.
After a restart, what was said and done is replayed from the saved progress (`pydantic_progress`). Only the
interrupted request is made again.
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

from agenthost.agents.adapters.pydantic_progress import RunProgress, Stage
from agenthost.agents.model.errors import model_failure
from agenthost.agents.model.history import ToolNames, to_history, tool_definitions
from agenthost.agents.model.model_name import ModelName
from agenthost.host.authoring.agent import Agent, Description
from agenthost.host.authoring.reported_call import ReportedCall
from agenthost.host.authoring.steps import Call, Usage
from agenthost.host.authoring.tool_results import ToolResult
from agenthost.host.authoring.turn import Turn
from agenthost.wire.ahp.toolcall import ConfirmationOption
from agenthost.wire.json import MAX_GIVEN_DEPTH, decode_json

__all__ = ["PydanticAgent"]

OPTIONS: list[ConfirmationOption] = [
    {"id": "allow-once", "label": "Allow once", "kind": "approve"},
    {"id": "deny", "label": "Deny", "kind": "deny", "group": 1},
]

INTERRUPTED = "The host was restarted while this ran; whether it did its work is unknown."


class PydanticAgent(Agent):
    """An unchanged pydantic-ai agent: `PydanticAgent("weather", agent)`.

    It runs its own tools, and their calls are shown; tools that require approval ask for it. It may also call
    the tools of the application and those declared here. `deps` are its dependencies, or a function that
    makes them for a turn.
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
        """Run the agent, and show what it does."""
        deps = self._deps(turn) if callable(self._deps) else self._deps
        try:
            await _PydanticRun(self, turn, deps).run()
        except (AgentRunError, UserError) as error:
            raise model_failure(error, _model_name(self.agent), (), mid_answer=False) from error


class _PydanticRun:
    """One turn of an agent; each deferral begins another run."""

    def __init__(self, host_agent: PydanticAgent, turn: Turn, deps: Any) -> None:
        self._agent = host_agent.agent
        self._turn = turn
        self._deps = deps
        self._names = ToolNames(())
        self._tools = tool_definitions(turn.tools, self._names)
        history = turn.history()
        before = host_agent.compact([*history, turn.transcript[len(history)]], host_agent.budget(None))
        self._before: list[ModelMessage] = to_history(before, "", self._names)
        self._progress = RunProgress.restore(turn)
        self._calls: dict[str, ReportedCall] = {}

    async def run(self) -> None:
        """Run the agent until it has answered."""
        waiting = await self._replay()
        if self._has_ended():
            return
        while True:
            results = None if waiting is None else await self._resolve(waiting)
            output = await self._run(results)
            if not isinstance(output, DeferredToolRequests):
                break
            waiting = output
        if not isinstance(output, str):
            await self._turn.say(to_json(output, indent=2).decode())

    def _has_ended(self) -> bool:
        """Tell whether the agent had answered before a restart."""
        stages = self._progress.stages()
        return bool(stages) and not stages[-1].response.tool_calls and not self._progress.deferred()

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
                    await self._save_messages(events.all_messages())
                await self._show(event)
            await self._save_messages(events.all_messages())
            usage = events.usage
            await self._turn.use(Usage(usage.input_tokens, usage.output_tokens))
            return events.result.output if events.result else ""

    async def _save_messages(self, messages: list[ModelMessage]) -> None:
        new = messages[len(self._before) :]
        if len(new) != len(self._progress.messages):
            self._progress.messages = new
            self._progress.has_begun = False
            await self._progress.save(self._turn)

    # Events

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
        """Show a call that the agent runs itself. The host makes the others later."""
        if call.tool_call_id in self._progress.kinds:
            return
        is_elsewhere = any(one.name == call.tool_name for one in self._tools)
        self._progress.kinds[call.tool_call_id] = "elsewhere" if is_elsewhere else "own"
        if not is_elsewhere:
            self._report(call)
            if not _needs_approval(self._agent, call.tool_name):
                self._calls[call.tool_call_id].run()
        await self._progress.save(self._turn)

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

    # Deferred calls

    async def _resolve(self, requests: DeferredToolRequests) -> DeferredToolResults:
        """Return the results of deferred calls. After a restart, decisions and results are not repeated."""
        was_begun = self._progress.has_begun
        kinds = self._progress.kinds
        kinds |= dict.fromkeys((call.tool_call_id for call in requests.approvals), "asked")
        kinds |= dict.fromkeys((call.tool_call_id for call in requests.calls), "elsewhere")
        await self._progress.save(self._turn)
        results = DeferredToolResults()
        for call in requests.approvals:
            decision = await self._report(call).ask(OPTIONS)
            denied = ToolDenied(f"Tool call denied: {decision.reason}".removesuffix(": "))
            interrupted = ToolDenied(INTERRUPTED) if was_begun else ToolApproved()
            results.approvals[call.tool_call_id] = interrupted if decision.approved else denied
        made = [Call(self._names.original(call.tool_name), call.args_as_dict()) for call in requests.calls]
        for call, result in zip(requests.calls, await self._turn.calls(*made), strict=True):
            results.calls[call.tool_call_id] = str(result)
        self._progress.has_begun = True
        await self._progress.save(self._turn)
        return results

    # After a restart

    async def _replay(self) -> DeferredToolRequests | None:
        """Replay what was said and done before a restart, and return the calls that are still deferred."""
        self._progress.close_interrupted(INTERRUPTED)
        stages = self._progress.stages()
        waiting = self._progress.deferred()
        for stage in stages:
            await self._replay_stage(stage)
            is_waiting = waiting is not None and stage is stages[-1]
            if not is_waiting:
                await self._replay_deferred(stage)
        return waiting

    async def _replay_stage(self, stage: Stage) -> None:
        for part in stage.response.parts:
            if isinstance(part, TextPart):
                await self._turn.say(part.content)
            elif isinstance(part, ThinkingPart):
                await self._turn.think(part.content)
        for call in stage.calls(self._progress.kinds, "own"):
            self._report(call).run()
            if call.tool_call_id in stage.returned:
                self._end(stage.returned[call.tool_call_id])

    async def _replay_deferred(self, stage: Stage) -> None:
        for call in stage.calls(self._progress.kinds, "asked"):
            await self._report(call).ask(OPTIONS)
            if call.tool_call_id in stage.returned:
                self._end(stage.returned[call.tool_call_id])
        made = stage.calls(self._progress.kinds, "elsewhere")
        await self._turn.calls(
            *(Call(self._names.original(one.tool_name), one.args_as_dict()) for one in made)
        )


def _needs_approval(agent: "AiAgent[Any, Any]", name: str) -> bool:
    """Tell whether a tool is known to need approval: its call is not shown as running before that."""
    for toolset in agent.toolsets:
        tools: Any = getattr(toolset, "tools", {})
        if isinstance(tools, dict) and getattr(tools.get(name), "requires_approval", False):
            return True
    return False


def _model_name(agent: "AiAgent[Any, Any]") -> ModelName:
    model: Any = agent.model
    if isinstance(model, str):
        service, _, name = model.rpartition(":")
        return ModelName(service or "the model", name)
    return ModelName(getattr(model, "system", "the model"), getattr(model, "model_name", ""))
