"""A running turn: what `Turn` and the step loop work with, composed of output, calls, questions and waits.

A turn outlives its process: everything that it needs is in the state and the transcript, from which it is
rebuilt after a restart. Knows one turn; `runner` starts and ends turns.
"""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

from agenthost.core import actions
from agenthost.core.conversation import ConversationAction
from agenthost.core.queries import tool_calls
from agenthost.core.session_meta import model_changed
from agenthost.core.transcript import STEERING, Message, host_mark, open_calls
from agenthost.core.turn_transcript import (
    WHOLE_MESSAGE,
    answer_message,
    covered_parts,
    result_content,
    user_message,
)
from agenthost.host.authoring.agent import Agent
from agenthost.host.authoring.machine import Machine
from agenthost.host.authoring.questions import Answers, Question
from agenthost.host.authoring.reported_call import ReportedCall
from agenthost.host.authoring.tool_context import ToolContext
from agenthost.host.authoring.turn_run import Result, TextKind
from agenthost.host.sessions.recorder import taken_message, turn_messages
from agenthost.host.sessions.tool_access import offered_tools
from agenthost.host.state.blobs import new_blob
from agenthost.host.state.private import Private, with_values
from agenthost.host.state.session import Session, TranscriptEntry
from agenthost.host.turns.output import Output
from agenthost.host.turns.questions import TurnQuestions
from agenthost.host.turns.reported_calls import ReportedCalls
from agenthost.host.turns.services import TurnServices
from agenthost.host.turns.tool_calls import CallRequest, ToolCalls
from agenthost.host.turns.waiter import TurnWaiter
from agenthost.wire.ahp.common import UsageInfo
from agenthost.wire.ahp.tool import ToolDefinition
from agenthost.wire.ahp.turn import ActiveTurn, ResponsePart
from agenthost.wire.json import Json, JsonObject

__all__ = ["RunningTurn"]

PIECES_PER_YIELD = 256
"""After how many pieces of text an agent that never awaits lets other tasks run."""


class RunningTurn:
    """One turn that is running or waiting. Implements `TurnRun`.

    Attributes:
        session: its session; `uri` is the session's URI.
        id: its id.
        message: what the user sent.
        agent: the agent that answers.
        waiter: its waits and its time limit.
        output: what it says.
        is_answered: whether its agent has finished, so that there is nothing left to stop.
        stop_reason: why it ends, if not because its agent has finished.
        task: the task that runs the agent.
        tasks: other tasks that run for it.
    """

    task: asyncio.Task[None]

    def __init__(self, session: Session, agent: Agent, services: TurnServices, *, is_resumed: bool) -> None:
        turn = session.chat["activeTurn"]
        # The notes of the turn before are in the transcript by now.
        session.notes = {}
        self.session = session
        self.id: str = turn["id"]
        self.message = turn["message"]
        self.uri = session.row.uri
        self.agent = agent
        self.waiter = TurnWaiter()
        self.is_answered = False
        self.stop_reason: str | None = None
        self.tasks: set[asyncio.Task[None]] = set()
        self._services = services
        self._pieces = 0
        self._step = ""
        self._asked = 0
        self._batch: list[CallRequest] | None = None
        self._batch_task: asyncio.Task[None]
        self._steered = 0
        self._is_resumed = is_resumed
        self._calls: ToolCalls | None = None
        self._calling: asyncio.Lock | None = None  # held while the calls of a step run
        parts = turn["responseParts"]
        # Complete steps are in the transcript; after a restart only the interrupted one is run again.
        start = self._covered if is_resumed and agent.is_stepwise else 0
        self.output = Output(session, self.id, parts, start)
        if is_resumed:
            # These may have had their effect already: only repeatable ones are run again.
            self.calls.found_running = _running_calls(parts)

    # Made on demand: most turns have no calls, and an object that refers to its turn is a reference cycle,
    # which only the garbage collector frees.

    @property
    def calls(self) -> ToolCalls:
        """The calls of this turn that the host runs."""
        if self._calls is None:
            services = self._services
            self._calls = ToolCalls(
                agent=self.agent,
                session=self.session,
                output=self.output,
                act=self.act,
                wait_for=self.waiter.wait_for,
                context=self.tool_context,
                withdraw=self._withdraw,
                limit=services.limits.tool_seconds,
                slots=services.slots,
                is_sandboxed=services.is_sandboxed,
                client_call_ready=services.client_call_ready,
                toolset=self.agent.toolset,
            )
        return self._calls

    @cached_property
    def questions(self) -> TurnQuestions:
        """The questions of this turn."""
        return TurnQuestions(self.session, self.id, self.waiter, self.act)

    @cached_property
    def reported(self) -> ReportedCalls:
        """The calls of this turn that the agent runs by itself."""
        return ReportedCalls(self.session, self.output, self.calls, self.waiter, is_resumed=self._is_resumed)

    def _withdraw(self, call_id: str) -> None:
        self.questions.withdraw_of(call_id)

    # Properties

    @property
    def turn(self) -> ActiveTurn:
        """The turn as the state has it."""
        return self.session.chat["activeTurn"]

    @property
    def messages(self) -> list[Message]:
        """The messages of this turn in the transcript so far."""
        return turn_messages(self.session, self.id)

    @property
    def is_over(self) -> bool:
        """Whether it has ended."""
        return self.waiter.is_over

    @property
    def is_replaying(self) -> bool:
        """Whether the agent still repeats what was shown before a restart."""
        return self.output.is_replaying

    @property
    def machine(self) -> Machine:
        """The files and terminals that the agent may use for the session."""
        return self._services.machine(self.session)

    def workspace(self) -> Path:
        """Return the folder that the session works in. Reads the disk."""
        return self._services.workspace(self.session)

    def option_values(self) -> Mapping[str, str]:
        """Return the values of the agent's options, with secrets in plain text."""
        return self._services.options(self.agent, self.session)

    def offered_tools(self) -> list[ToolDefinition]:
        """Return the tools that may be called now."""
        # A step keeps the tools that it began with; a handler sees the current ones.
        toolset = self.calls.toolset if self.agent.is_stepwise else self.agent.toolset
        return offered_tools(self.agent, toolset, self.session)

    # Acting on the session

    def act(
        self,
        action: ConversationAction,
        *,
        messages: Sequence[TranscriptEntry] = (),
        private: Private | None = None,
    ) -> None:
        """Apply an action of this turn."""
        if self.waiter.is_over:
            self.check()
        self._services.act(self.session, action, messages=messages, private=private)

    def check(self) -> None:
        """Raise `CancelledError` if the turn has ended, to stop an agent that goes on."""
        self.waiter.check()

    def say(self, kind: TextKind, text: str, private: JsonObject | None = None) -> bool:
        """Stream text. Return whether it is time to `yield_to_others`: a flag is cheaper than an await."""
        if not text.isascii():
            text = text.encode(errors="replace").decode()  # a lone surrogate cannot be encoded
        output = self.output
        flow = output.flow
        # The fast path of nearly every piece: a call per token is measurable. While there is a flow, the turn
        # has not ended. Otherwise the part is added before its text (HR-U01).
        if (
            flow is not None
            and flow is self.session.flow
            and kind == output.kind
            and text
            and private is None
        ):
            flow.texts.append(text)
            return len(flow.texts) % PIECES_PER_YIELD == 0
        if self.waiter.is_over:
            self.check()
        output.say(kind, text)
        if private is not None:
            output.open(kind)
            self.session.notes[output.part_id] = private
            # Private data belongs to one part, so what follows begins another.
            output.break_off()
        self._pieces += 1
        return self._pieces % PIECES_PER_YIELD == 0

    def is_due(self) -> bool:
        """Count a piece. Return whether it is time to `yield_to_others`."""
        self._pieces += 1
        return self._pieces % PIECES_PER_YIELD == 0

    async def yield_to_others(self) -> None:
        """Let other tasks run, and wait while the disk is behind."""
        self.session.count()
        await asyncio.sleep(0)
        # An agent that is faster than the disk would fill the memory with what is not written yet.
        await self.session.journal.wait_room()

    def notify(self, text: str) -> None:
        """Show a notice that is not part of the answer."""
        self.check()
        self.output.notify(text)

    def show(self, data: bytes, content_type: str) -> None:
        """Show large content, by reference."""
        self.check()
        if not self.output.was_referred():
            content = new_blob(self.session, data, content_type)
            self.session.journal.write([content.write])
            self.output.refer(content.ref)

    def use(self, usage: UsageInfo) -> None:
        """Report what the turn has cost so far."""
        self.check()
        # Numbers that an agent repeats are older than those that were shown.
        if self.turn.get("usage") != usage and not self.output.is_replaying:
            self.act(actions.usage(self.id, usage))

    def set_title(self, title: str) -> None:
        """Set the title of the session."""
        self.act(actions.title_changed(title))

    def set_activity(self, activity: str | None) -> None:
        """Show in a few words what the agent is doing; None clears it."""
        self.act(actions.activity_changed(activity))

    def set_config(self, values: JsonObject) -> None:
        """Change settings of the session."""
        self.act(actions.config_changed(values))

    def set_model(self, model_id: str) -> None:
        """Choose a model for the session."""
        self.act(model_changed(self.session.state, {"id": model_id}))

    def watch(self, look: Callable[[], None]) -> None:
        """Call `look` after each action in the session, until the turn ends."""
        self.waiter.watch(look)

    async def keep(self, value: JsonObject) -> None:
        """Store the agent's private data for the session, durably."""
        self.check()
        private = with_values(self.session.private, kept=value or None)
        if private is not None:
            self.session.keep(private)
        await self.session.journal.wait()

    async def ask(self, questions: Sequence[Question], message: str | None, url: str | None) -> Answers:
        """Ask the user, and wait for the answers. Answers from before a restart are reused."""
        self._asked += 1
        # The question is a part too: what is said after it belongs into a new one.
        self.output.break_off()
        return await self.questions.ask(f"{self._step}{self._asked}", questions, message, url)

    # Calls

    async def call(self, requests: Sequence[tuple[str, JsonObject]]) -> list[Result]:
        """Call tools, and wait for all of them. All calls of one tick of the event loop are one step."""
        if self.waiter.is_over:
            self.check()
        begin = self.calls.begin
        made = [CallRequest(begin(name), name, arguments) for name, arguments in requests]
        if self._batch is None:
            self._batch = []
            self._batch_task = asyncio.create_task(self._run_batch())
            self.tasks.add(self._batch_task)
            self._batch_task.add_done_callback(self.tasks.discard)
        self._batch.extend(made)
        # Others may wait for the same step: cancelling one of them must not cancel the rest.
        await asyncio.shield(self._batch_task)
        return [self._result(request.id) for request in made]

    async def _run_batch(self) -> None:
        """Collect the calls of this tick, and run them when earlier calls have ended."""
        self._calling = self._calling or asyncio.Lock()
        async with self._calling:
            await asyncio.sleep(0)
            # By now everything that was called in this tick, such as by one `gather`, has joined.
            batch, self._batch = self._batch or [], None
            self.calls.begin_step()
            await self.calls.run(batch)

    def _result(self, call_id: str) -> Result:
        """Return the result of a call that has ended."""
        call: Any = self.output.find_call(call_id)
        content: Any = None
        # The transcript has the full result; the state may only refer to large contents.
        for entry in reversed(self.session.messages):
            message: Any = entry.message
            if message["role"] == "tool" and message["toolCallId"] == call_id:
                content = message["content"]
                break
        else:
            content = result_content(call)
        result = Result(content if isinstance(content, str) else _words_of(content))
        result.ok = call["status"] == "completed" and call["success"]
        result.structured = call.get("structuredContent")
        result.content = call.get("content", [])
        return result

    def report(self, name: str, title: str, arguments: JsonObject) -> ReportedCall:
        """Show a call that the agent runs by itself."""
        return self.reported.begin(name, title, arguments)

    def fail_reported(self, sentence: str) -> None:
        """Fail all reported calls that have not ended."""
        self.reported.fail_open(sentence)

    async def wait_tools(self) -> None:
        """Wait, for a limited time, for tools from other servers if they are not known yet."""
        await self._services.tools_known(self.agent)
        self.calls.begin_step()

    async def finish_open_calls(self) -> None:
        """After a restart, finish the calls of the last complete step."""
        await self.calls.finish([call["toolCallId"] for call in open_calls(self.messages)])

    def tool_context(self, call_id: str) -> ToolContext:
        """Make the context of a call."""

        def show(content: list[Any]) -> None:
            # A tool may report progress after its call or the turn has ended, such as from a thread.
            call = None if self.is_over else self.output.find_call(call_id)
            if call is not None and call["status"] == "running":
                self.act(actions.tool_call_content_changed(self.id, call_id, content))

        async def ask(number: int, *asked: Any) -> Answers:
            return await self.questions.ask_in_call(call_id, number, *asked)

        return self._services.context(self.session, self.id, call_id, show, ask, self.waiter.wait_for)

    # Steps

    @property
    def steps_done(self) -> int:
        """How many complete steps the transcript has of this turn."""
        return sum(message["role"] == "assistant" for message in self.messages)

    @property
    def past_calls(self) -> set[str]:
        """The ids of the calls of complete steps."""
        return {call["toolCallId"] for call in tool_calls(self.output.parts[: self._covered])}

    @property
    def _covered(self) -> int:
        """How many parts of the turn the transcript has already."""
        return covered_parts(turn_messages(self.session, self.id))

    def begin_step(self) -> None:
        """Prepare a step. Steering messages come before it, unless it had begun before a restart."""
        # Only the interrupted step is run again, so questions are numbered per step.
        self._step, self._asked = f"{self.steps_done}/", 0
        self.calls.begin_step()
        if not self.output.is_replaying:
            self._take_steering()
        self.session.notes.pop(WHOLE_MESSAGE, None)  # it was used by the step before

    # Steering

    @property
    def has_steering(self) -> bool:
        """Whether there is a steering message that the agent has not got yet."""
        return "steeringMessage" in self.session.chat

    def _take_steering(self) -> Message | None:
        """Move the steering message into the transcript, after what was said before it (HR-U04)."""
        waiting = self.session.chat.get("steeringMessage")
        if waiting is None:
            return None
        message: Message = {**user_message(waiting["message"]), "_private": STEERING}
        said = answer_message(self.output.parts, self._covered, {}, self.session.notes)
        messages = [TranscriptEntry(self.id, one) for one in (said, message) if one is not None]
        removed = actions.pending_message_removed("steering", waiting["id"])
        self.act(removed, messages=messages, private=taken_message(self.session, "steering", waiting["id"]))
        self.output.break_off()
        return message

    def next_steering(self) -> Message | None:
        """Return the next steering message. An agent that is run again gets them again, in order."""
        messages = self.messages
        places = [place for place, one in enumerate(messages) if host_mark(one).get("steering")]
        if self._steered == len(places):
            message = self._take_steering()
            self._steered += message is not None
            return message
        place = places[self._steered]
        if self.output.place < covered_parts(messages[:place]):
            return None  # before the restart, it came later than this
        self._steered += 1
        self.output.break_off()
        return messages[place]


def _running_calls(parts: Sequence[ResponsePart]) -> set[str]:
    return {call["toolCallId"] for call in tool_calls(parts) if call["status"] == "running"}


def _words_of(content: Sequence[Json]) -> str:
    return "\n".join(block["text"] for block in content if block["type"] == "text")
