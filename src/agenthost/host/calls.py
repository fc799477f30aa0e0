"""Calls: what becomes of the tools that a step asks for.

Trusted tools run, those of one step side by side; untrusted ones wait until somebody allows them; a client's
wait for that client. Everything is read off the state, so a call that waited before a restart still waits
after it. Knows tools and their permission; how a call appears is the business of `output`.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias, TypeVar

from agenthost.core.diffs import diffs_changed
from agenthost.core.recording import answer_message, covered_parts
from agenthost.errors import InvalidValue, NotJson
from agenthost.host.agent import Agent
from agenthost.host.consent import options_for
from agenthost.host.contents import refer_to_large
from agenthost.host.output import Output
from agenthost.host.pins import pin_of, what_changed
from agenthost.host.previews import Preview, preview_of
from agenthost.host.recorder import answer_to, turn_messages
from agenthost.host.session import Said, Session
from agenthost.host.setup import changed, client_tools, enabled_tools, is_trusted, private_of
from agenthost.host.toolcontext import Slot, ToolContext
from agenthost.host.toolresults import ToolOutcome, failure
from agenthost.host.tools import Tool
from agenthost.host.toolset import ToolSet
from agenthost.wire.json import JsonObject, decode_json, encode_json

T = TypeVar("T")

INTERRUPTED = "{} was interrupted by a restart of the host; whether it did its work is unknown"
ABANDONED = "the host was restarted, and the agent went on in another way"

Act: TypeAlias = Callable[..., None]
WaitFor: TypeAlias = Callable[[Callable[[], T | None]], Awaitable[T]]


@dataclass(slots=True)
class Request:
    """A call that the agent asks for, whole."""

    id: str
    name: str
    input: JsonObject


@dataclass(slots=True)
class Calls:
    """The calls of one running turn.

    Attributes:
        agent: whose tools they are.
        toolset: the tools as this step was given them; the agent may have others by now.
        session: where they happen.
        output: where they appear.
        act: lets an action happen, with what follows from it.
        wait_for: waits until something gives a value, looking again whenever something happened.
        context: makes the context for a call, from its id.
        withdraw: takes back what a call asked the user, by its id.
        limit: how long a tool may take that does not say.
        slots: how many tools may run at once, of the whole host.
        is_sandboxed: whether commands run in a sandbox.
        private: what the agent wants to have kept of parts and calls, by their ids.
        found_running: the calls that ran when the host was restarted.
        previews: what the calls of the next step would change.
    """

    agent: Agent
    session: Session
    turn_id: str
    output: Output
    act: Act
    wait_for: WaitFor[Any]
    context: Callable[[str], ToolContext]
    withdraw: Callable[[str], None]
    limit: float
    slots: asyncio.Semaphore
    is_sandboxed: bool = False
    private: dict[str, JsonObject] = field(default_factory=dict)
    found_running: set[str] = field(default_factory=set)
    previews: dict[str, Preview] = field(default_factory=dict)
    toolset: ToolSet = field(init=False)

    def __post_init__(self) -> None:
        self.begin_step()

    def begin_step(self) -> None:
        """Take the tools that the agent has now, until the next step."""
        self.toolset = self.agent.toolset

    def begin(self, name: str, call_id: str | None = None) -> str:
        """Let a call appear; its input may follow in pieces. Gives its id."""
        tools = enabled_tools(self.toolset, self.session)
        one = tools.get(name)
        state = self.session.state
        if one is None and self.agent.client_tools and name in client_tools(state):
            definition = client_tools(state)[name]
            return self.output.call(
                name, call_id, definition.get("title", name), state["activeClient"]["clientId"]
            )
        return self.output.call(name, call_id, one.label if one else name, None)

    async def look_ahead(self, requests: Sequence[Request]) -> None:
        """Find out what the calls would change that somebody will be asked about; before `make_ready`."""
        tools = enabled_tools(self.toolset, self.session)
        asked = [(request, tools[request.name]) for request in requests if self._is_shown(request, tools)]
        if not asked:
            return
        found = await asyncio.gather(
            *(preview_of(one, request.input, self.context(request.id)) for request, one in asked)
        )
        self.previews.update(
            (request.id, preview) for (request, _), preview in zip(asked, found, strict=True)
        )

    def _is_shown(self, request: Request, tools: Mapping[str, Tool]) -> bool:
        one = tools.get(request.name)
        call: Any = self.output.find_call(request.id)
        return (
            one is not None
            and one.preview is not None
            and call["status"] == "streaming"
            and "toolClientId" not in call
            and self._fits(one, request.input)
            and not self._is_trusted(one, request.input)
        )

    def make_ready(self, requests: Sequence[Request]) -> None:
        """Let the calls of a step be whole, and write down what the assistant said with them.

        No await in here: all of it is one commit, so that a restart finds the step whole or not at all.
        """
        self._close_abandoned()
        messages = self._message(requests)
        for request in requests:
            call: Any = self.output.find_call(request.id)
            if call["status"] == "streaming":
                self._make_one_ready(request, call, messages)
                messages = []
        if self.previews:
            # In the same tick, so that nobody sees a reference to what is not there.
            writes = [write for preview in self.previews.values() for write in preview.writes]
            self.session.journal.write(writes)
            self.previews.clear()

    def _make_one_ready(self, request: Request, call: JsonObject, messages: Sequence[Said] = ()) -> None:
        """Let a call run or wait for an answer, and keep the definition that this is about."""
        ready = self._ready(request, call)
        one = self.toolset.get(call["toolName"])
        pin = None if one is None or "toolClientId" in call else pin_of(one)
        if pin is None:
            self.act(ready, messages=messages)
            return
        shown: Any = {**private_of(self.session).get("shown", {}), request.id: pin}
        self.act(ready, messages=messages, private=changed(self.session, shown=shown))

    def _message(self, requests: Sequence[Request]) -> list[Said]:
        end = 1 + max(self.output.place_of(request.id) for request in requests)
        start = self.covered
        inputs = {request.id: request.input for request in requests}
        message = (
            answer_message(self.output.parts[:end], start, inputs, self.private) if end > start else None
        )
        return [] if message is None else [Said(self.turn_id, message)]

    @property
    def covered(self) -> int:
        """How many parts of the turn are in the transcript."""
        return covered_parts(turn_messages(self.session, self.turn_id))

    def _close_abandoned(self) -> None:
        """Close the calls that an interrupted run began and that this one did not ask for again."""
        abandoned, self.output.abandoned = self.output.abandoned, []
        for call_id in abandoned:
            self._abandon(self._find(call_id))

    def _abandon(self, call: JsonObject) -> None:
        on_call, call_id = self.output.on_call, call["toolCallId"]
        if call["status"] == "streaming":
            self.act(on_call("toolCallReady", call_id, invocationMessage=call["displayName"]))
        if call["status"] in ("streaming", "pending-confirmation"):
            denial = {"approved": False, "reason": "skipped", "reasonMessage": ABANDONED}
            self.act(on_call("toolCallConfirmed", call_id, **denial))
        elif call["status"] == "pending-result-confirmation":
            self.act(on_call("toolCallResultConfirmed", call_id, approved=False))
        elif call["status"] == "running":
            label = call["displayName"]
            self.withdraw(call_id)
            outcome = failure(INTERRUPTED.format(label), title=label, code="interrupted")
            self.act(on_call("toolCallComplete", call_id, result=outcome.result()))

    def _ready(self, request: Request, call: JsonObject) -> Any:
        one = enabled_tools(self.toolset, self.session).get(call["toolName"])
        ready = self.output.on_call(
            "toolCallReady",
            request.id,
            invocationMessage=call["displayName"] if one is None else one.told(request.input),
            toolInput=encode_json(request.input).decode(),
        )
        if "toolClientId" in call or one is None or not self._fits(one, request.input) or not one.exposed:
            # A client's, or there is nothing to ask for: it will fail without running.
            return {**ready, "confirmed": "not-needed"}
        if self._is_trusted(one, request.input):
            return {**ready, "confirmed": "setting"}
        question: JsonObject = {
            "confirmationTitle": " ".join([f"Allow {one.label}?", *self._changes(one, request.id)]),
            "options": options_for(one.scope_of(request.input), one.label, is_sandboxed=self.is_sandboxed),
        }
        preview = self.previews.get(request.id)
        if preview is not None and preview.edits:
            question["edits"] = {"items": preview.edits}
        return {**ready, **question, **({"editable": True} if one.editable else {})}

    def _changes(self, one: Tool, call_id: str) -> list[str]:
        """Say what is another since the tool was approved, for the session or for this call."""
        private, pin = private_of(self.session), pin_of(one)
        old = private.get("shown", {}).get(call_id) or private.get("pins", {}).get(one.name)
        return [what_changed(old, pin)] if pin is not None and old is not None and old != pin else []

    def _is_trusted(self, one: Tool, arguments: JsonObject) -> bool:
        return is_trusted(self.session, one, arguments, is_sandboxed=self.is_sandboxed)

    def _fits(self, one: Tool, arguments: JsonObject) -> bool:
        try:
            one.read(arguments)
        except InvalidValue:
            return False
        return True

    async def settle(self, call_ids: Sequence[str]) -> None:
        """Bring these calls to their ends, side by side."""
        if len(call_ids) == 1:
            await self._settle(call_ids[0])
            return
        async with asyncio.TaskGroup() as group:
            for call_id in call_ids:
                group.create_task(self._settle(call_id))

    async def _settle(self, call_id: str) -> None:
        while (call := self._find(call_id))["status"] not in ("completed", "cancelled"):
            if call["status"] == "running" and "toolClientId" not in call:
                context = self.context(call_id)
                outcome = await self._run(call, context)
                if outcome is not None:
                    self.end(call, outcome, context)
            else:
                await self._wait_change(call_id, call["status"])

    def _find(self, call_id: str) -> Any:
        return self.output.find_call(call_id)

    async def _wait_change(self, call_id: str, status: str) -> None:
        await self.wait_for(lambda: self._find(call_id)["status"] != status or None)

    async def _run(self, call: JsonObject, context: ToolContext) -> ToolOutcome | None:
        """Run a call; gives nothing if somebody has to be asked again first."""
        name, call_id = call["toolName"], call["toolCallId"]
        # Looked up again, at the last moment: it may have been switched off while somebody thought about it.
        one = enabled_tools(self.toolset, self.session).get(name)
        if one is None:
            return failure(f"there is no tool {name!r} in this session", title=name, code="unknown-tool")
        if call_id in self.found_running and not one.is_repeatable:
            self.withdraw(call_id)
            return failure(INTERRUPTED.format(one.label), title=one.label, code="interrupted")
        try:
            arguments = decode_json(call.get("toolInput", "{}"))
        except NotJson as error:
            return failure(f"the input is not JSON: {error}", title=one.label, code="invalid-arguments")
        context.slot = Slot(self.slots)
        await context.slot.take()
        try:
            if not one.is_repeatable:
                # If the process ends now, the next one must know that this may have been done.
                await self.session.journal.wait()
            if self._is_asked_again(call, arguments):
                return None
            masked = self.agent.mask_errors
            return await one.run(arguments, context, limit=self.limit, mask_errors=masked)
        finally:
            context.slot.leave()

    def _is_asked_again(self, call: JsonObject, arguments: JsonObject) -> bool:
        """Ask again if the tool is not what it was when the call was allowed, as of a server that changed."""
        one = self.agent.toolset.get(call["toolName"])
        pin = None if one is None else pin_of(one)
        if one is None or pin is None or self._is_trusted(one, arguments):
            return False
        if pin == private_of(self.session).get("shown", {}).get(call["toolCallId"]):
            return False
        self.begin_step()
        self._make_one_ready(Request(call["toolCallId"], call["toolName"], arguments), call)
        return True

    def _held(self, call: JsonObject, result: Any) -> JsonObject | None:
        """Keep what the model is to read, if it may: the state has only references."""
        held = private_of(self.session).get("held", {})
        answer = answer_to(self.session, call, result)["content"]
        return changed(self.session, held={**held, call["toolCallId"]: answer})

    def end(
        self,
        call: JsonObject,
        outcome: ToolOutcome,
        context: ToolContext,
        told: Sequence[Said] | None = None,
    ) -> None:
        """Let a call end: in one commit, what people see, what the model reads, and what both refer to.

        `told` is what the model reads, if it is not simply the result.
        """
        result = outcome.result()
        shown, writes = refer_to_large(self.session, result)
        one = self.toolset.get(call["toolName"])
        done = self.output.on_call("toolCallComplete", call["toolCallId"], result=shown)
        if one is not None and one.needs_result_confirmation and outcome.success:
            done["requiresResultConfirmation"] = True
            self.act(done, private=self._held(call, result) if writes else None)
        else:
            if told is None:
                # The model reads the result itself, not the references in the state.
                told = [Said(self.turn_id, answer_to(self.session, call, result))]
            self.act(done, messages=told)
        # After it: a tool that went on although its turn had ended leaves nothing.
        self.session.journal.write([*context.writes, *writes])
        if edits := [block for block in outcome.content if block["type"] == "fileEdit"]:
            self.act(diffs_changed(self.session.state, edits))
