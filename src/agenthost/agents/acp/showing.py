"""Showing: what the program says in one turn, in order, as people see it.

While a call waits for permission nothing new begins: an AAP application was told what it has to decide, and
could not be told of more. What comes meanwhile waits too, but for news of calls that are shown already.
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

from agenthost.agents.acp.calls import ShownCall, TerminalBlock, block_of, read_call
from agenthost.agents.acp.permissions import CANCELLED, options_of, outcome_of
from agenthost.host.toolresults import ToolResult
from agenthost.host.turn import Turn
from agenthost.wire.json import JsonObject

__all__ = ["Showing"]

log = logging.getLogger("agenthost.acp")

MARKS = {"completed": "x", "in_progress": "~"}


@dataclass(slots=True)
class Asked:
    """A request for permission, from when it came in until it is answered."""

    params: JsonObject
    begun: asyncio.Future[ShownCall | None] = field(
        default_factory=lambda: asyncio.get_running_loop().create_future()
    )


class Showing:
    """One turn, as the program fills it.

    Attributes:
        reasons: why calls were denied, in words for the program: the protocol has no place for them.
    """

    def __init__(self, turn: Turn, terminal: TerminalBlock, is_past: Callable[[str], bool]) -> None:
        self.turn = turn
        self.reasons: list[str] = []
        self._terminal = terminal
        self._is_past = is_past
        self._calls: dict[str, ShownCall] = {}
        self._held: list[Callable[[], None]] = []
        self._waiting: Asked | None = None
        self._asked: list[Asked] = []
        self._plan: list[str] = []
        self._tasks: set[asyncio.Task[None]] = set()

    @property
    def call_ids(self) -> set[str]:
        """The ids of the calls of this turn, as the program names them."""
        return set(self._calls)

    # News

    def hear(self, update: JsonObject) -> None:
        """Take news, in order."""
        if self.turn.is_over:
            return
        call_id = update.get("toolCallId")
        if isinstance(call_id, str) and call_id in self._calls:
            self._report(call_id, update)
        else:
            self._in_order(lambda: self._take(update))

    def _in_order(self, do: Callable[[], None]) -> None:
        if self._waiting is not None or self._held:
            self._held.append(do)
        else:
            do()

    @property
    def _is_held_up(self) -> bool:
        return self._waiting is not None or self.turn.is_over

    def _go_on(self) -> None:
        """Do what was held up, until something has to wait again."""
        self._waiting = None
        while self._held and not self._is_held_up:
            self._held.pop(0)()

    def _take(self, update: JsonObject) -> None:
        match update.get("sessionUpdate"):
            case "agent_message_chunk" | "agent_thought_chunk":
                self._say(update)
            case "tool_call" | "tool_call_update":
                self._report(str(update.get("toolCallId")), update)
            case "plan":
                self._show_plan(update)
            case other:
                log.debug("%s is no news that is shown", other)

    def _say(self, update: JsonObject) -> None:
        is_thought = update["sessionUpdate"] == "agent_thought_chunk"
        model = AgentThoughtChunk if is_thought else AgentMessageChunk
        try:
            content = model.model_validate(update).content
        except ValidationError:
            log.warning("text without a form was left out")
            return
        kind = "reasoning" if is_thought else "markdown"
        if content.type == "text":
            self.turn.emit(kind, content.text)  # type: ignore[arg-type] # one of the two
        elif content.type == "resource_link":
            self.turn.emit("markdown", f"[{content.name}]({content.uri})")
        else:
            self._show(block_of(content))

    def _show(self, block: Any) -> None:
        if block["type"] == "text":
            self._soon(self.turn.show(block["text"]))
        else:
            self._soon(self.turn.show(b64decode(block["data"]), block["contentType"]))

    def _soon(self, work: Coroutine[Any, Any, None]) -> None:
        """Do something to the turn in a moment; once it is over, nothing."""
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def _report(self, call_id: str, update: JsonObject) -> None:
        said = read_call(update)
        if said is None:
            log.warning("news of a call without a form was left out")
            return
        if call_id not in self._calls and self._is_past(call_id):
            return  # of a turn that is over
        shown = self._shown(said)
        if not shown.is_over:
            shown.describe(said)
            shown.go_on()

    def _shown(self, said: Any) -> ShownCall:
        if said.tool_call_id not in self._calls:
            self._calls[said.tool_call_id] = ShownCall(self.turn, said, self._terminal)
        return self._calls[said.tool_call_id]

    def _show_plan(self, update: JsonObject) -> None:
        """Think the plan aloud when it is new; while it is worked on, say what goes on."""
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
            self._soon(self.turn.activity(text))

    # Files

    def wrote(self, path: Path, before: str | None, after: str) -> None:
        """Show that a file was written: in the call that it belongs to, or as a call of its own."""
        open_calls = [shown for shown in self._calls.values() if not shown.is_over]
        about = [shown for shown in open_calls if shown.is_about(path)]
        if about or len(open_calls) == 1:
            (about or open_calls)[-1].wrote(path, before, after)
        else:
            self._in_order(lambda: self._show_write(path, before, after))

    def _show_write(self, path: Path, before: str | None, after: str) -> None:
        call = self.turn.report("edit", {"path": str(path)}, title=f"Write {path.name}")
        call.complete(ToolResult([call.edited(path, before, after)], message=f"Wrote {path.name}"))

    # Permission

    def expect(self, params: JsonObject) -> None:
        """Take note that permission is asked for; what comes after it waits."""
        asked = Asked(params)
        self._asked.append(asked)
        self._in_order(lambda: self._begin(asked))

    def _begin(self, asked: Asked) -> None:
        said = read_call(asked.params.get("toolCall"))
        if said is None:
            asked.begun.set_result(None)
            return
        self._waiting = asked
        if (before := self._calls.get(said.tool_call_id)) is not None and before.is_over:
            del self._calls[said.tool_call_id]  # whatever was decided about it is over, too
        shown = self._shown(said)
        shown.describe(said)
        options = options_of(asked.params.get("options"))
        shown.call.put_question(options, question=f"Allow {shown.name}?", edits=shown.edits())
        asked.begun.set_result(shown)

    async def permit(self, params: JsonObject) -> JsonObject:
        """Ask people for permission, and give the answer for the program."""
        asked = next((one for one in self._asked if one.params is params), None)
        if asked is None or self.turn.is_over:
            return CANCELLED
        try:
            shown = await asked.begun
            return CANCELLED if shown is None else await self._decided(shown, params.get("options"))
        except asyncio.CancelledError:
            return CANCELLED  # the turn is over
        finally:
            self._asked.remove(asked)
            if self._waiting is asked:
                self._go_on()

    async def _decided(self, shown: ShownCall, listed: Any) -> JsonObject:
        decision = await shown.call.wait_decision()
        answer = outcome_of(decision, listed)
        if decision.approved and answer == CANCELLED:
            sentence = "This can only be allowed for good, which nobody chose: it was not allowed."
            await self.turn.notify(sentence)
        if decision.reason:
            self.reasons.append(f"{shown.title!r} was denied: {decision.reason}")
        return answer

    def close(self) -> None:
        """Show nothing more: the turn is over. Whoever still asks is told so."""
        self._held.clear()
        for asked in self._asked:
            if not asked.begun.done():
                asked.begun.set_result(None)
