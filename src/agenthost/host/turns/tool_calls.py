"""Tool calls: runs the calls of a step.

A call goes one way: `begin` shows it, `run` makes the calls of a step ready and finishes them. Trusted tools
run, those of one step concurrently; untrusted ones wait for approval; a client's wait for that client.
Everything is read from the state, so a call that waited before a restart still waits after it. Knows tools
and their permissions; `output` shows the calls.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeAlias, TypeVar, cast

from agenthost.core import actions
from agenthost.core.conversation import ConversationAction
from agenthost.core.diffs import diffs_changed
from agenthost.core.queries import ENDED_CALL_STATUSES, client_of
from agenthost.core.turn_transcript import answer_message, covered_parts
from agenthost.errors import InvalidValue, NotJson
from agenthost.host.authoring.agent import Agent
from agenthost.host.authoring.previews import Preview, preview_of
from agenthost.host.authoring.tool import Tool
from agenthost.host.authoring.tool_context import Slot, ToolContext
from agenthost.host.authoring.tool_pins import pin_of, what_changed
from agenthost.host.authoring.tool_results import ToolOutcome, failure
from agenthost.host.authoring.toolset import ToolSet
from agenthost.host.sessions.approvals import options_for
from agenthost.host.sessions.recorder import answer_to, turn_messages, without_shown
from agenthost.host.sessions.tool_access import client_tools, enabled_tools, is_trusted
from agenthost.host.state.blobs import INLINE_BYTES, refer_to_large
from agenthost.host.state.private import Private, with_values
from agenthost.host.state.session import Session, TranscriptEntry
from agenthost.host.storage import PutContent
from agenthost.host.turns.output import Output
from agenthost.wire.ahp.actions.toolcall import ChatToolCallReadyAction
from agenthost.wire.ahp.tool import FileEditCollection
from agenthost.wire.json import JsonObject, decode_json, encode_json

__all__ = ["Act", "CallRequest", "ToolCalls", "WaitFor"]

T = TypeVar("T")

INTERRUPTED = "{} was interrupted by a restart of the host; whether it did its work is unknown"
ABANDONED = "the host was restarted, and the agent continued in another way"

WaitFor: TypeAlias = Callable[[Callable[[], T | None]], Awaitable[T]]
"""Waits until its argument returns a value; calls it again after each action."""


class Act(Protocol):
    """Applies an action of a turn, with what is written in the same commit."""

    def __call__(
        self,
        action: ConversationAction,
        *,
        messages: Sequence[TranscriptEntry] = (),
        private: Private | None = None,
    ) -> None:
        """Apply it."""


@dataclass(slots=True)
class CallRequest:
    """A call that the agent makes, with its complete input."""

    id: str
    name: str
    input: JsonObject


@dataclass(slots=True)
class ToolCalls:
    """The calls of one running turn.

    Attributes:
        agent: the agent that makes the calls.
        session: the session.
        output: where the calls are shown.
        act: applies an action of the turn.
        wait_for: waits until its argument returns a value.
        context: makes the context of a call, from its id.
        withdraw: withdraws the questions of a call, by its id.
        limit: the time limit in seconds for tools that declare none.
        slots: limits how many tools run at once in the whole host.
        is_sandboxed: whether commands run in a sandbox.
        client_call_ready: called when a client has to run a call; that client may be gone.
        found_running: the calls that were running when the host was restarted.
        previews: what the calls of the next step would change.
        toolset: the tools that this step began with; the agent may have others by now.
    """

    agent: Agent
    session: Session
    output: Output
    act: Act
    wait_for: WaitFor[Any]
    context: Callable[[str], ToolContext]
    withdraw: Callable[[str], None]
    limit: float
    slots: asyncio.Semaphore
    is_sandboxed: bool = False
    client_call_ready: Callable[[Session], None] = lambda _: None
    found_running: set[str] = field(default_factory=set)
    previews: dict[str, Preview] = field(default_factory=dict)
    toolset: ToolSet = field(default_factory=ToolSet)
    _enabled: tuple[object, object, dict[str, Tool]] = field(init=False, default=(None, None, {}))

    def begin_step(self) -> None:
        """Use the tools that the agent has now, until the next step."""
        self.toolset = self.agent.toolset

    @property
    def tools(self) -> Mapping[str, Tool]:
        """The host's tools that are enabled in the session now; cached until that changes."""
        wanted = self.session.private.get("tools")
        toolset, known, tools = self._enabled
        if toolset is not self.toolset or known is not wanted:
            tools = enabled_tools(self.toolset, wanted)
            self._enabled = (self.toolset, wanted, tools)
        return tools

    def begin(self, name: str, call_id: str | None = None) -> str:
        """Show a call; its input may follow in pieces. Return its id."""
        tool = self.tools.get(name)
        if tool is not None:
            return self.output.call(name, call_id, tool.label, None)
        # HR-U08: a name means the host's tool, if it has one.
        brought = client_tools(self.session).get(name) if self.agent.client_tools else None
        if brought is not None:
            title = brought.definition.get("title", name)
            return self.output.call(name, call_id, title, brought.client_id)
        # An unknown tool is shown like any other; it fails when it is run, and the model is told.
        return self.output.call(name, call_id, name, None)

    async def run(self, requests: Sequence[CallRequest]) -> None:
        """Run the calls of a step, and wait until all have ended."""
        # Before `_make_ready`, which must not await.
        await self._preview(requests)
        self._make_ready(requests)
        # Most steps have one call, which needs no task group.
        if len(requests) == 1:
            await self._finish(requests[0].id)
        else:
            await self.finish([request.id for request in requests])

    # Before a call runs

    async def _preview(self, requests: Sequence[CallRequest]) -> None:
        """Find previews for the calls that will need approval."""
        tools = self.tools
        asked = [
            (request, tool)
            for request in requests
            if (tool := tools.get(request.name)) is not None
            and tool.preview is not None
            and self._will_ask(tool, request)
        ]
        if not asked:
            return
        found = await asyncio.gather(
            *(preview_of(tool, request.input, self.context(request.id)) for request, tool in asked)
        )
        self.previews.update(
            (request.id, preview) for (request, _), preview in zip(asked, found, strict=True)
        )

    def _will_ask(self, tool: Tool, request: CallRequest) -> bool:
        call: Any = self.output.find_call(request.id)
        return (
            call["status"] == "streaming"
            and client_of(call) is None
            and _fits(tool, request.input)
            and not self._is_trusted(tool, request.input)
        )

    def _make_ready(self, requests: Sequence[CallRequest]) -> None:
        """Make the calls of a step ready, and write the assistant's message with them.

        No await in here: everything is one commit, so that a restart finds all of the step or nothing.
        """
        if self.output.abandoned:
            self._close_abandoned()
        messages = self._message(requests)
        for request in requests:
            call: Any = self.output.find_call(request.id)
            if call["status"] == "streaming":
                self._make_one_ready(request, call, messages)
                messages = []
        if self.previews:
            # In the same tick, so that nobody sees a reference to content that does not exist yet.
            writes = [write for preview in self.previews.values() for write in preview.writes]
            self.session.journal.write(writes)
            self.previews.clear()

    def _make_one_ready(
        self, request: CallRequest, call: JsonObject, messages: Sequence[TranscriptEntry] = ()
    ) -> None:
        """Make a call run or wait for approval, and keep the tool's pin with it."""
        ready = self._ready(request, call)
        tool = self.toolset.get(call["toolName"])
        # Only tools of other servers have pins: the host's own do not change while it runs.
        pin = None if tool is None or tool.source is None or client_of(call) is not None else pin_of(tool)
        if pin is None:
            self.act(ready, messages=messages)
            if client_of(call) is not None:
                self.client_call_ready(self.session)
            return
        shown: Any = {**self.session.private.get("shown", {}), request.id: pin}
        self.act(ready, messages=messages, private=with_values(self.session.private, shown=shown))

    def _ready(self, request: CallRequest, call: JsonObject) -> ChatToolCallReadyAction:
        turn_id = self.output.turn_id
        text = encode_json(request.input).decode()
        tool = self.tools.get(call["toolName"])
        if client_of(call) is not None or tool is None or not tool.exposed or not _fits(tool, request.input):
            # A client's tool, or a call that will fail without running: no approval needed.
            label = call["displayName"] if tool is None else tool.told(request.input)
            return actions.tool_call_ready(
                turn_id, request.id, label, tool_input=text, confirmed="not-needed"
            )
        label = tool.told(request.input)
        if is_trusted(self.session.private, tool, request.input, is_sandboxed=self.is_sandboxed):
            return actions.tool_call_ready(turn_id, request.id, label, tool_input=text, confirmed="setting")
        preview = self.previews.get(request.id)
        edits: FileEditCollection | None = (
            {"items": preview.edits} if preview is not None and preview.edits else None
        )
        return actions.tool_call_ready(
            turn_id,
            request.id,
            label,
            tool_input=text,
            # HR-U05 and A2: the user sees what it is going to do, and options with labels.
            title=" ".join([f"Allow {tool.label}?", *self._changes(tool, request.id)]),
            options=options_for(tool.scope_of(request.input), tool.label, is_sandboxed=self.is_sandboxed),
            edits=edits,
            editable=tool.editable,
        )

    def _changes(self, tool: Tool, call_id: str) -> list[str]:
        """Return what has changed since the tool was approved, for the session or for this call."""
        private, pin = self.session.private, pin_of(tool)
        old = private.get("shown", {}).get(call_id) or private.get("pins", {}).get(tool.name)
        return [what_changed(old, pin)] if pin is not None and old is not None and old != pin else []

    def _is_trusted(self, tool: Tool, arguments: JsonObject) -> bool:
        return is_trusted(self.session.private, tool, arguments, is_sandboxed=self.is_sandboxed)

    def _message(self, requests: Sequence[CallRequest]) -> list[TranscriptEntry]:
        """Return the assistant's message up to the last of these calls, without what is recorded already."""
        start = covered_parts(turn_messages(self.session, self.output.turn_id))
        parts = self.output.parts
        inputs = {request.id: request.input for request in requests}
        end = len(parts)
        while end and not (
            parts[end - 1]["kind"] == "toolCall"
            and cast("Any", parts[end - 1])["toolCall"]["toolCallId"] in inputs
        ):
            end -= 1
        message = answer_message(parts[:end], start, inputs, self.session.notes) if end > start else None
        return [] if message is None else [TranscriptEntry(self.output.turn_id, message)]

    def _close_abandoned(self) -> None:
        """Close the calls that an interrupted run began and that this one did not repeat."""
        abandoned, self.output.abandoned = self.output.abandoned, []
        for call_id in abandoned:
            self._abandon(self._find(call_id))

    def _abandon(self, call: JsonObject) -> None:
        turn_id, call_id = self.output.turn_id, call["toolCallId"]
        status, label = call["status"], call["displayName"]
        if status == "streaming":
            # T4: only a call that waits for confirmation can be denied.
            self.act(actions.tool_call_ready(turn_id, call_id, label))
        if status in ("streaming", "pending-confirmation"):
            self.act(actions.tool_call_denied(turn_id, call_id, message=ABANDONED, is_skipped=True))
        elif status == "pending-result-confirmation":
            self.act(actions.tool_call_result_confirmed(turn_id, call_id, approved=False))
        elif status == "running":
            self.withdraw(call_id)
            outcome = failure(INTERRUPTED.format(label), title=label, code="interrupted")
            self.act(actions.tool_call_complete(turn_id, call_id, outcome.result()))

    # Running

    async def finish(self, call_ids: Sequence[str]) -> None:
        """Finish these calls, concurrently."""
        async with asyncio.TaskGroup() as group:
            for call_id in call_ids:
                group.create_task(self._finish(call_id))

    async def _finish(self, call_id: str) -> None:
        find: Callable[[str], Any] = self.output.find_call
        while (call := find(call_id))["status"] not in ENDED_CALL_STATUSES:
            status = call["status"]
            if status == "running" and client_of(call) is None:
                context = self.context(call_id)
                outcome = await self._run(call, context)
                if outcome is not None:
                    self.end(call, outcome, context)
            else:
                await self._wait_change(call_id, status)

    async def _wait_change(self, call_id: str, status: str) -> None:
        await self.wait_for(lambda: self._find(call_id)["status"] != status or None)

    def _find(self, call_id: str) -> Any:
        return self.output.find_call(call_id)

    async def _run(self, call: JsonObject, context: ToolContext) -> ToolOutcome | None:
        """Run a call. Return None if the user has to be asked again first."""
        name, call_id = call["toolName"], call["toolCallId"]
        # Looked up again at the last moment: it may have been switched off while the user was deciding.
        tool = self.tools.get(name)
        if tool is None:
            return failure(f"there is no tool {name!r} in this session", title=name, code="unknown-tool")
        if call_id in self.found_running and not tool.is_repeatable:
            self.withdraw(call_id)
            return failure(INTERRUPTED.format(tool.label), title=tool.label, code="interrupted")
        try:
            arguments = decode_json(call.get("toolInput", "{}"))
        except NotJson as error:
            return failure(f"the input is not JSON: {error}", title=tool.label, code="invalid-arguments")
        context.slot = Slot(self.slots)
        await context.slot.take()
        try:
            if not tool.is_repeatable:
                # If the process dies now, the next one must know that the tool may have run.
                await self.session.journal.wait()
            # After the last await: the tool that is checked is the one that runs.
            if self._is_asked_again(call, arguments):
                return None
            masked = self.agent.mask_errors
            return await tool.run(arguments, context, limit=self.limit, mask_errors=masked)
        finally:
            context.slot.leave()

    def _is_asked_again(self, call: JsonObject, arguments: JsonObject) -> bool:
        """Ask again if the tool has changed since the call was approved. Return whether it did."""
        tool = self.agent.toolset.get(call["toolName"])
        if tool is None or tool.source is None or self._is_trusted(tool, arguments):
            return False
        if pin_of(tool) == self.session.private.get("shown", {}).get(call["toolCallId"]):
            return False
        self.begin_step()
        self._make_one_ready(CallRequest(call["toolCallId"], call["toolName"], arguments), call)
        return True

    def end(
        self,
        call: JsonObject,
        outcome: ToolOutcome,
        context: ToolContext,
        told: Sequence[TranscriptEntry] | None = None,
    ) -> None:
        """End a call. The result for users, the message for the model and their contents are one commit.

        `told` is what the model reads, if it is not simply the result.
        """
        session, turn_id, call_id = self.session, self.output.turn_id, call["toolCallId"]
        result = outcome.result()
        shown = result
        writes: list[PutContent] = []
        # Most results are small, and are used as they are.
        for block in outcome.content:
            if len(str(block.get("text") or block.get("data") or "")) > INLINE_BYTES:
                shown, writes = refer_to_large(session, result)
                break
        tool = self.toolset.get(call["toolName"])
        if tool is not None and tool.needs_result_confirmation and outcome.error is None:
            done = actions.tool_call_complete(turn_id, call_id, shown, needs_confirmation=True)
            self.act(done, private=self._held(call, result) if writes else None)
        else:
            if told is None:
                # The model reads the full result; the state has only references to large contents.
                told = [TranscriptEntry(turn_id, answer_to(session, call, result))]
            done = actions.tool_call_complete(turn_id, call_id, shown)
            self.act(done, messages=told, private=without_shown(session, call_id))
        # After the action, which fails if the turn has ended: then no contents are left behind.
        if contents := [*context.writes, *writes]:
            session.journal.write(contents)
        if edits := [block for block in outcome.content if block["type"] == "fileEdit"]:
            self.act(diffs_changed(session.state, edits))

    def _held(self, call: JsonObject, result: Any) -> Private | None:
        """Return private data with what the model reads if the result is approved: the full result."""
        held: Any = self.session.private.get("held", {})
        answer = answer_to(self.session, call, result)["content"]
        return with_values(self.session.private, held={**held, call["toolCallId"]: answer})


def _fits(tool: Tool, arguments: JsonObject) -> bool:
    try:
        tool.read(arguments)
    except InvalidValue:
        return False
    return True
