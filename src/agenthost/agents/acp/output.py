"""The program's output in one turn, shown in order.

While a call waits for permission, nothing new begins: an AAP application has been told what to decide, and
could not be told of more. Updates that arrive meanwhile are held, except those of calls already shown.
"""

import asyncio
import logging
from base64 import b64decode
from collections.abc import Callable, Coroutine
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from acp.schema import AgentMessageChunk, AgentThoughtChunk
from pydantic import ValidationError

from agenthost.agents.acp.call_view import TerminalBlock, ToolCallView, parse_call, to_content_block
from agenthost.agents.acp.permissions import CANCELLED, confirmation_options, permission_outcome
from agenthost.host.authoring.tool_results import ToolResult
from agenthost.host.authoring.turn import Turn
from agenthost.wire.json import JsonObject

__all__ = ["ProgramOutput"]

log = logging.getLogger("agenthost.acp")

MARKS = {"completed": "x", "in_progress": "~"}


@dataclass(slots=True)
class PermissionRequest:
    """A permission request that is not answered yet.

    Attributes:
        params: the params of the request.
        view: its call, once that is shown; `None` if it cannot be.
    """

    params: JsonObject
    view: asyncio.Future[ToolCallView | None] = field(
        default_factory=lambda: asyncio.get_running_loop().create_future()
    )


class ProgramOutput:
    """Shows the program's updates in one turn.

    Attributes:
        turn: the turn.
        reasons: why calls were denied. ACP has no field for it, so a later prompt tells the program.
    """

    def __init__(self, turn: Turn, terminal: TerminalBlock, is_past: Callable[[str], bool]) -> None:
        self.turn = turn
        self.reasons: list[str] = []
        self._terminal = terminal
        self._is_past = is_past
        self._calls: dict[str, ToolCallView] = {}
        self._held: list[Callable[[], None]] = []
        self._waiting: PermissionRequest | None = None
        self._requests: list[PermissionRequest] = []
        self._plan: list[str] = []
        self._tasks: set[asyncio.Task[None]] = set()

    @property
    def call_ids(self) -> set[str]:
        """The program's ids of the calls in this turn."""
        return set(self._calls)

    # Updates

    def on_update(self, update: JsonObject) -> None:
        """Show an update, in order."""
        if self.turn.is_over:
            return
        call_id = update.get("toolCallId")
        if isinstance(call_id, str) and call_id in self._calls:
            self._report(call_id, update)
        else:
            self._in_order(lambda: self._handle(update))

    def _in_order(self, do: Callable[[], None]) -> None:
        if self._waiting is not None or self._held:
            self._held.append(do)
        else:
            do()

    @property
    def _is_held(self) -> bool:
        return self._waiting is not None or self.turn.is_over

    def _resume(self) -> None:
        """Show what was held, until something has to wait again."""
        self._waiting = None
        while self._held and not self._is_held:
            self._held.pop(0)()

    def _handle(self, update: JsonObject) -> None:
        match update.get("sessionUpdate"):
            case "agent_message_chunk" | "agent_thought_chunk":
                self._say(update)
            case "tool_call" | "tool_call_update":
                self._report(str(update.get("toolCallId")), update)
            case "plan":
                self._show_plan(update)
            case other:
                log.debug("the update %s is not shown", other)

    def _say(self, update: JsonObject) -> None:
        is_thought = update["sessionUpdate"] == "agent_thought_chunk"
        model = AgentThoughtChunk if is_thought else AgentMessageChunk
        try:
            content = model.model_validate(update).content
        except ValidationError:
            log.warning("a malformed text update was left out")
            return
        kind = "reasoning" if is_thought else "markdown"
        if content.type == "text":
            self.turn.emit(kind, content.text)  # type: ignore[arg-type] # one of the two
        elif content.type == "resource_link":
            self.turn.emit("markdown", f"[{content.name}]({content.uri})")
        else:
            self._show(to_content_block(content))

    def _show(self, block: Any) -> None:
        if block["type"] == "text":
            self._spawn(self.turn.show(block["text"]))
        else:
            self._spawn(self.turn.show(b64decode(block["data"]), block["contentType"]))

    def _spawn(self, work: Coroutine[Any, Any, None]) -> None:
        """Run a coroutine in its own task: updates are handled without awaiting."""
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def _report(self, call_id: str, update: JsonObject) -> None:
        progress = parse_call(update)
        if progress is None:
            log.warning("a malformed update of a tool call was left out")
            return
        if call_id not in self._calls and self._is_past(call_id):
            return  # a late update of a call in an earlier turn
        view = self._view(progress)
        if not view.is_over:
            view.describe(progress)
            view.apply_status()

    def _view(self, progress: Any) -> ToolCallView:
        if progress.tool_call_id not in self._calls:
            self._calls[progress.tool_call_id] = ToolCallView(self.turn, progress, self._terminal)
        return self._calls[progress.tool_call_id]

    def _show_plan(self, update: JsonObject) -> None:
        """Show a new plan as a thought, and the entry in progress as the session's activity."""
        entries = [one for one in update.get("entries") or [] if type(one) is dict]
        steps = [str(one.get("content")) for one in entries]
        if steps != self._plan:
            self._plan = steps
            lines = [f"- [{MARKS.get(str(one.get('status')), ' ')}] {one.get('content')}" for one in entries]
            self.turn.emit("reasoning", "\n".join(["\n\nPlan:", *lines, ""]) + "\n")
        doing = [str(one.get("content")) for one in entries if one.get("status") == "in_progress"]
        done = sum(one.get("status") == "completed" for one in entries)
        if steps:
            text = f"{doing[0]} ({done} of {len(steps)} done)" if doing else None
            self._spawn(self.turn.activity(text))

    # Files

    def record_write(self, path: Path, before: str | None, after: str) -> None:
        """Show that a file was written, in the call that it belongs to, or as a separate call."""
        open_calls = [view for view in self._calls.values() if not view.is_over]
        about = [view for view in open_calls if view.is_about(path)]
        if about or len(open_calls) == 1:
            (about or open_calls)[-1].record_write(path, before, after)
        else:
            self._in_order(lambda: self._show_write(path, before, after))

    def _show_write(self, path: Path, before: str | None, after: str) -> None:
        call = self.turn.report("edit", {"path": str(path)}, title=f"Write {path.name}")
        call.complete(ToolResult([call.edited(path, before, after)], message=f"Wrote {path.name}"))

    # Permission

    def on_permission_request(self, params: JsonObject) -> None:
        """Queue a permission request. Updates that follow it wait."""
        request = PermissionRequest(params)
        self._requests.append(request)
        self._in_order(lambda: self._begin(request))

    def _begin(self, request: PermissionRequest) -> None:
        progress = parse_call(request.params.get("toolCall"))
        if progress is None:
            request.view.set_result(None)
            return
        self._waiting = request
        if (before := self._calls.get(progress.tool_call_id)) is not None and before.is_over:
            del self._calls[progress.tool_call_id]  # that call is over: this one is shown as a new call
        view = self._view(progress)
        view.describe(progress)
        options = confirmation_options(request.params.get("options"))
        view.call.put_question(options, question=f"Allow {view.name}?", edits=view.edits())
        request.view.set_result(view)

    async def answer_permission(self, params: JsonObject) -> JsonObject:
        """Ask people for permission, and return the response for the program."""
        request = next((one for one in self._requests if one.params is params), None)
        if request is None or self.turn.is_over:
            return CANCELLED
        try:
            view = await request.view
            return CANCELLED if view is None else await self._outcome(view, params.get("options"))
        except asyncio.CancelledError:
            return CANCELLED  # ACP: a cancelled turn answers its permission requests with `cancelled`
        finally:
            self._requests.remove(request)
            if self._waiting is request:
                self._resume()

    async def _outcome(self, view: ToolCallView, listed: Any) -> JsonObject:
        decision = await view.call.wait_decision()
        answer = permission_outcome(decision, listed)
        if decision.approved and answer == CANCELLED:
            sentence = "This can only be allowed permanently. Nobody chose that, so it was not allowed."
            await self.turn.notify(sentence)
        if decision.reason:
            self.reasons.append(f"{view.title!r} was denied: {decision.reason}")
        return answer

    def close(self) -> None:
        """Stop showing updates: the turn is over. Open permission requests are answered `cancelled`."""
        self._held.clear()
        for request in self._requests:
            if not request.view.done():
                request.view.set_result(None)
