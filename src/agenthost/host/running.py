"""A running turn, seen from inside: what `Turn` and the step loop are made of.

It outlives its process: everything it needs is in the state and the transcript, so after a restart one is
made anew from them. Knows one turn; starting and ending turns is the business of `turns`.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from agenthost.core.recording import WHOLE, answer_message, covered_parts, result_content, user_message
from agenthost.core.transcript import STEERING, Message, host_mark, open_calls
from agenthost.host.agent import Agent
from agenthost.host.asking import Answers, Question
from agenthost.host.calls import Calls, Request, WaitFor
from agenthost.host.contents import new_content
from agenthost.host.limits import Limits
from agenthost.host.means import Means
from agenthost.host.output import Kind, Output
from agenthost.host.recorder import Notes, turn_messages
from agenthost.host.reports import Reports
from agenthost.host.session import Said, Session
from agenthost.host.toolcontext import OnAsk, OnProgress, ToolContext
from agenthost.host.waiting import WaitingTurn
from agenthost.wire.ahp.common import UsageInfo
from agenthost.wire.ahp.turn import ActiveTurn
from agenthost.wire.json import Json, JsonObject

BREATH = 256
"""After so many pieces of text an agent that never waits lets the others run."""


class Result(str):
    """What came of a call, as the model reads it.

    Attributes:
        ok: whether the tool ran and did what it was asked for.
        structured: its result as a JSON object, if it has one.
        content: its result as blocks, for people.
    """

    __slots__ = ("content", "ok", "structured")

    ok: bool
    structured: JsonObject | None
    content: list[Any]


@dataclass(slots=True)
class Surroundings:
    """What a turn needs of its host.

    Attributes:
        act: lets an action happen in a session, with what follows from it.
        limits: how long and how much.
        slots: how many tools may run at once.
        context: makes the context of a tool call.
        tools_known: waits a little until it is known which tools an agent has.
        means: gives what of this machine an agent may use for a session.
        is_sandboxed: whether commands run in a sandbox.
    """

    act: Callable[..., None]
    limits: Limits
    slots: asyncio.Semaphore
    context: Callable[[Session, str, str, OnProgress, OnAsk, WaitFor[Any]], ToolContext]
    tools_known: Callable[[Agent], Awaitable[None]]
    means: Callable[[Session], Means]
    is_sandboxed: bool = False


class RunningTurn(WaitingTurn):
    """One turn that is running or waiting.

    Attributes:
        is_answered: whether its agent is done, so that there is nothing to stop any more.
        stop_reason: why it ends, if not because its agent is done.
        task: what runs the agent.
        tasks: what else runs for it.
    """

    task: asyncio.Task[None]

    def __init__(self, session: Session, agent: Agent, around: Surroundings, *, is_taken_up: bool) -> None:
        super().__init__(session, around.act)
        self.agent = agent
        self.is_answered = False
        self.stop_reason: str | None = None
        self._around = around
        self._pieces = 0
        self._step = ""
        self._asked = 0
        self._batch: list[Request] | None = None
        self._batch_task: asyncio.Task[None]
        self.tasks: set[asyncio.Task[None]] = set()
        self._steered = 0
        self._is_taken_up = is_taken_up
        self._calls: Calls | None = None
        self._reports: Reports | None = None
        self.output = Output(self.session, self.id)
        if is_taken_up:
            self._find_calls()

    # Made when they are needed: most turns have no calls. They know the turn, so with them it would stay in
    # memory until the collector comes.

    @cached_property
    def _calling(self) -> asyncio.Lock:
        """Held while the calls of a step are made and run."""
        return asyncio.Lock()

    @property
    def calls(self) -> Calls:
        """The calls of this turn, which the host runs."""
        if self._calls is None:
            self._calls = self._make_calls()
        return self._calls

    @property
    def reports(self) -> Reports:
        """The calls of this turn, which the agent runs by itself."""
        if self._reports is None:
            self._reports = Reports(self, is_again=self._is_taken_up)
        return self._reports

    @property
    def notes(self) -> Notes:
        """What the agent wants to have kept of parts and calls, by their ids."""
        return {} if self._calls is None else self._calls.private

    def _make_calls(self) -> Calls:
        return Calls(
            agent=self.agent,
            session=self.session,
            turn_id=self.id,
            output=self.output,
            act=self.act,
            wait_for=self.wait_for,
            context=self.tool_context,
            withdraw=lambda call_id: self._withdraw(self._call_question(call_id)),
            limit=self._around.limits.tool_seconds,
            slots=self._around.slots,
            is_sandboxed=self._around.is_sandboxed,
        )

    def _find_calls(self) -> None:
        """Find what was under way when the host was restarted."""
        found = [part["toolCall"] for part in self.turn["responseParts"] if part["kind"] == "toolCall"]
        self.calls.found_running = {call["toolCallId"] for call in found if call["status"] == "running"}
        if self.agent.is_stepwise:
            # Whole steps are in the transcript; only the one that was interrupted is run again.
            self.calls.output = self.output = Output(self.session, self.id, self.calls.covered)

    @property
    def turn(self) -> ActiveTurn:
        """The turn as the state has it."""
        return self.session.state["activeTurn"]

    @property
    def messages(self) -> list[Message]:
        """What was said in this turn so far, as the transcript has it."""
        return turn_messages(self.session, self.id)

    @property
    def past_calls(self) -> set[str]:
        """The ids of the calls of whole steps."""
        parts = self.turn["responseParts"][: self.calls.covered]
        return {part["toolCall"]["toolCallId"] for part in parts if part["kind"] == "toolCall"}

    @property
    def means(self) -> Means:
        """What of this machine the agent may use for the session."""
        return self._around.means(self.session)

    def say(self, kind: Kind, text: str, private: JsonObject | None = None) -> bool:
        """Let text appear; tells whether it is time to `breathe`. Asking is cheaper than awaiting."""
        if not text.isascii():
            text = text.encode(errors="replace").decode()  # half a pair of surrogates cannot be written
        output = self.output
        flow = output.flow
        # All that nearly every piece needs: each call would be felt. What flows is of a turn that goes on.
        if (
            flow is not None
            and flow is self.session.flow
            and kind == output.kind
            and text
            and private is None
        ):
            flow.texts.append(text)
            return len(flow.texts) % BREATH == 0
        self.check()
        output.say(kind, text)
        if private is not None:
            self._note(kind, private)
        return self.is_due()

    def _note(self, kind: Kind, private: JsonObject) -> None:
        self.output.open(kind)
        self.calls.private[self.output.part_id] = private
        self.output.break_off()

    def is_due(self) -> bool:
        """Count a piece that is no text; tells whether it is time to `breathe`."""
        self._pieces += 1
        return self._pieces % BREATH == 0

    async def breathe(self) -> None:
        """Let others run, and wait while the disk is behind."""
        self.session.count()
        await asyncio.sleep(0)
        await self.session.journal.wait_room()

    def show(self, data: bytes, content_type: str) -> None:
        """Let large content appear, by reference."""
        if not self.output.was_referred():
            content = new_content(self.session, data, content_type)
            self.session.journal.write([content.write])
            self.output.refer(content.ref)

    def use(self, usage: UsageInfo) -> None:
        """Say what the turn cost so far."""
        self.check()
        if self.turn.get("usage") != usage and not self.output.is_replaying:
            self.act({"type": "session/usage", "session": self.uri, "turnId": self.id, "usage": usage})

    async def ask(self, questions: Sequence[Question], message: str | None, url: str | None) -> Answers:
        """Ask the user, and wait for the answers; those that came before a restart are still there."""
        self._asked += 1
        self.output.break_off()
        return await self._ask(f"{self.id}/ask/{self._step}{self._asked}", questions, message, url)

    # Calls

    async def call(self, requests: Sequence[tuple[str, JsonObject]]) -> list[Result]:
        """Ask for tools, and wait for all of them. What is asked for in one moment is one step."""
        self.check()
        made = [self._request(name, arguments) for name, arguments in requests]
        if self._batch is None:
            self._batch = []
            self._batch_task = asyncio.create_task(self._settle_batch())
            self.tasks.add(self._batch_task)
            self._batch_task.add_done_callback(self.tasks.discard)
        self._batch.extend(made)
        # Others may wait for the same step: that one of them gives up must not end it for the rest.
        await asyncio.shield(self._batch_task)
        return [self.result(request.id) for request in made]

    async def _settle_batch(self) -> None:
        """Take along what is asked for in the same moment; begin when the calls before it have ended."""
        async with self._calling:
            await asyncio.sleep(0)
            batch, self._batch = self._batch or [], None
            self.calls.begin_step()
            await self.calls.look_ahead(batch)
            self.calls.make_ready(batch)
            await self.calls.settle([request.id for request in batch])

    def _request(self, name: str, arguments: JsonObject) -> Request:
        return Request(self.calls.begin(name), name, arguments)

    def result(self, call_id: str) -> Result:
        """Give what came of a call that has ended."""
        call: Any = self.output.find_call(call_id)
        answer: Any = next(
            (
                message
                for message in reversed(self.messages)
                if message["role"] == "tool" and message["toolCallId"] == call_id
            ),
            None,
        )
        content = answer["content"] if answer else result_content(call)
        result = Result(content if isinstance(content, str) else _words_of(content))
        result.ok = call["status"] == "completed" and call["success"]
        result.structured = call.get("structuredContent")
        result.content = call.get("content", [])
        return result

    async def wait_tools(self) -> None:
        """Wait a little for tools that come from elsewhere, if they are not known yet."""
        await self._around.tools_known(self.agent)
        self.calls.begin_step()

    async def settle_open(self) -> None:
        """After a restart: bring the calls of the last whole step to their ends."""
        await self.calls.settle([call["toolCallId"] for call in open_calls(self.messages)])

    @property
    def steps_done(self) -> int:
        """How many whole steps the transcript has of this turn."""
        return sum(message["role"] == "assistant" for message in self.messages)

    def tool_context(self, call_id: str) -> ToolContext:
        """Make the context of a call."""

        def show(content: list[Any]) -> None:
            call = None if self.is_over else self.output.find_call(call_id)
            if call is not None and call["status"] == "running":
                self.act(self.output.on_call("toolCallContentChanged", call_id, content=content))

        async def ask(number: int, *asked: Any) -> Answers:
            return await self._ask_in_call(f"{self._call_question(call_id)}{number}", *asked)

        return self._around.context(self.session, self.id, call_id, show, ask, self.wait_for)

    def begin_step(self) -> None:
        """Get ready for a step: what the user said meanwhile comes before it, unless it had begun already."""
        # Only the step that was interrupted is run again, so questions are counted by step.
        self._step, self._asked = f"{self.steps_done}/", 0
        self.calls.begin_step()
        if not self.output.is_replaying:
            self.take_steering()
        self.calls.private.pop(WHOLE, None)  # it went with the step before

    # Steering

    @property
    def has_steering(self) -> bool:
        """Whether the user has said something that the agent has not been given yet."""
        return "steeringMessage" in self.session.state

    def take_steering(self) -> Message | None:
        """Take what the user said meanwhile into the transcript, after what was said before it."""
        waiting = self.session.state.get("steeringMessage")
        if waiting is None:
            return None
        message: Message = {**user_message(waiting["userMessage"]), "_private": STEERING}
        said = answer_message(self.output.parts, self.calls.covered, {}, self.notes)
        removed = {"type": "session/pendingMessageRemoved", "kind": "steering", "id": waiting["id"]}
        messages = [Said(self.id, one) for one in (said, message) if one is not None]
        self.act({**removed, "session": self.uri}, messages=messages)
        self.output.break_off()
        return message

    def next_steering(self) -> Message | None:
        """Give what the user said meanwhile to a handler; one that is run again gets it again, in order."""
        messages = self.messages
        places = [place for place, one in enumerate(messages) if host_mark(one).get("steering")]
        if self._steered == len(places):
            message = self.take_steering()
            self._steered += message is not None
            return message
        place = places[self._steered]
        if self.output.place < covered_parts(messages[:place]):
            return None  # it came later than this
        self._steered += 1
        self.output.break_off()
        return messages[place]


def _words_of(content: Sequence[Json]) -> str:
    return "\n".join(block["text"] for block in content if block["type"] == "text")
