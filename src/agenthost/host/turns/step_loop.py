"""The step loop: run a step function and the calls that it yields, again and again, until it yields none."""

from contextlib import aclosing
from typing import Any

from agenthost.core.turn_transcript import WHOLE_MESSAGE
from agenthost.errors import LimitReached
from agenthost.host.authoring.steps import Call, CallInput, Note, Stop, Text, Thought, Usage
from agenthost.host.authoring.turn import Turn
from agenthost.host.turns.running_turn import RunningTurn
from agenthost.host.turns.tool_calls import CallRequest
from agenthost.wire.json import copy_json

__all__ = ["run_steps"]


async def run_steps(turn: Turn, running: RunningTurn, limit: int) -> None:
    """Run a step function until it yields no more calls.

    Raises:
        LimitReached: it took too many steps.
    """
    # A model must find each call followed by its result, so the last step is finished first.
    await running.finish_open_calls()
    # Steps from before a restart count, or a turn that crashes the host again and again would have no limit.
    for _ in range(running.steps_done, limit):
        running.begin_step()
        requests = await _Step(running).run(turn)
        if running.stop_reason is not None:
            return
        # The step has ended: what it has not repeated by now, it never will.
        running.output.end_replay()
        if requests:
            await running.calls.run(requests)
        # HR-U04: a steering message that came during the last step gets one more.
        elif not running.has_steering:
            return
        running.output.break_off()
    raise LimitReached(f"the turn took more than {limit} steps")


class _Step:
    """One run of a step function."""

    def __init__(self, running: RunningTurn) -> None:
        self._running = running
        self._requests: dict[str, CallRequest] = {}
        self._begun: dict[tuple[str, str], str] = {}  # (name, id) in the step: id in the turn

    async def run(self, turn: Turn) -> list[CallRequest]:
        answer: Any = self._running.agent.answer(turn)
        # Closed here if the turn ends early: the garbage collector would do it later, in another task.
        async with aclosing(answer) as events:
            async for event in events:
                is_text = isinstance(event, str)
                if self._running.say("markdown", event) if is_text else self._handle(event):
                    await self._running.yield_to_others()
        return list(self._requests.values())

    def _handle(self, event: Any) -> bool:
        """Handle an event. Return whether it is time to let other tasks run."""
        match event:
            case Text():
                return self._running.say("markdown", event.text, event.private)
            case Thought():
                return self._running.say("reasoning", event.text, event.private)
            case CallInput():
                self._running.output.call_input(self._begin(event.name, event.id), event.text)
            case Call():
                self._ask_for(event)
            case Usage():
                self._running.use(event.info())
            case Note():
                noted = self._running.session.notes.get(WHOLE_MESSAGE, {})
                self._running.session.notes[WHOLE_MESSAGE] = {**noted, **event.private}
            case Stop():
                self._running.stop_reason = event.reason
            case _:
                kinds = "str, Text, Thought, CallInput, Call, Note, Usage or Stop"
                raise TypeError(f"a step function must yield {kinds}, not {type(event).__name__}")
        return self._running.is_due()

    def _begin(self, name: str, step_id: str | None) -> str:
        if step_id is None:
            return self._running.calls.begin(name)
        key = (name, step_id)
        if key not in self._begun:
            # An id that another call of this turn has would be ambiguous, so this call gets a new one.
            is_used = step_id in self._running.past_calls or step_id in self._begun.values()
            self._begun[key] = self._running.calls.begin(name, None if is_used else step_id)
        return self._begun[key]

    def _ask_for(self, call: Call) -> None:
        call_id = self._begin(call.name, call.id)
        if call_id in self._requests:
            call_id = self._running.calls.begin(call.name)  # two calls with one id are still two
        # A copy: certainly JSON, and not shared with the agent.
        arguments = copy_json(call.input)
        if type(arguments) is not dict:
            raise TypeError(f"the input of a call must be a dict, not {type(call.input).__name__}")
        self._requests[call_id] = CallRequest(call_id, call.name, arguments)
        if call.private is not None:
            self._running.session.notes[call_id] = call.private
