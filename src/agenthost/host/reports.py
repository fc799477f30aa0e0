"""Reports: tool calls that an agent runs by itself, shown as all others are.

The agent says what it does, and the host finds the legal actions for it: people see the call begin, ask, run
and end, may allow it or not, and the transcript has it with its result. Nothing is run here. A handler that
is run again after a restart reports again, and what the state already has is left as it is.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from agenthost.core.recording import plain, reported_messages, result_content, tool_message
from agenthost.core.transcript import open_calls
from agenthost.host.session import Said
from agenthost.host.toolcontext import ToolContext
from agenthost.host.toolresults import ToolOutcome, ToolResult, failure, outcome_of
from agenthost.wire.ahp.tool import ToolResultContent, ToolResultFileEditContent
from agenthost.wire.ahp.toolcall import ConfirmationOption
from agenthost.wire.json import JsonObject, encode_json

if TYPE_CHECKING:
    from agenthost.host.running import RunningTurn

__all__ = ["Decision", "ReportedCall", "Reports"]

ENDED = ("completed", "cancelled")

REPORTED: JsonObject = {"agenthost": {"reported": True}}
"""The `_meta` of a call that its agent runs by itself."""


@dataclass(frozen=True, slots=True)
class Decision:
    """What somebody decided about a call.

    Attributes:
        approved: whether it may be made.
        option: the id of the option that was chosen; none if it was plainly allowed or denied.
        reason: why it was denied, and what the user would rather have.
    """

    approved: bool
    option: str | None = None
    reason: str = ""


class ReportedCall:
    """One call that the agent runs by itself. Its methods may be used in any order: the host stays legal."""

    def __init__(self, reports: "Reports", call_id: str, title: str, given: JsonObject) -> None:
        self.id = call_id
        self._reports = reports
        self._title = title
        self._input = given
        self._was_asked = False
        self._context: ToolContext = reports.running.tool_context(call_id)
        self._edits: dict[tuple[Path, str | None, str | None], ToolResultFileEditContent] = {}

    @property
    def status(self) -> str:
        """Where it stands: `streaming`, `pending-confirmation`, `running`, `completed` or `cancelled`."""
        return self._call["status"]  # type: ignore[no-any-return]

    @property
    def is_over(self) -> bool:
        """Whether it has ended: done, failed, denied."""
        return self.status in ENDED

    @property
    def _call(self) -> JsonObject:
        return self._reports.find(self.id)

    def describe(self, title: str | None = None, given: JsonObject | None = None) -> None:
        """Say what it is about, as far as that is known by now; of one that runs it is shown at once."""
        is_news = title not in (None, self._title) or given not in (None, self._input)
        self._title = self._title if title is None else title
        self._input = self._input if given is None else given
        call = self._call
        if is_news and call["status"] == "running":
            self._act("toolCallReady", **self._parameters(), confirmed=call["confirmed"])
            if "content" in call:
                self._act("toolCallContentChanged", content=call["content"])

    def run(self) -> None:
        """Say that it runs, without that anybody was asked."""
        if self.status == "streaming":
            self._act("toolCallReady", **self._parameters(), confirmed="not-needed")

    async def ask(
        self,
        options: Sequence[ConfirmationOption],
        *,
        question: str | None = None,
        edits: Sequence[ToolResultFileEditContent] = (),
    ) -> Decision:
        """Ask whether it may be made, and wait for the answer; it may have begun already.

        `edits` are the changes that it would make, by `edited`. While it waits, nothing else should begin: an
        AAP application that was told what to answer cannot be told of more.
        """
        self.put_question(options, question=question, edits=edits)
        return await self.wait_decision()

    def put_question(
        self,
        options: Sequence[ConfirmationOption],
        *,
        question: str | None = None,
        edits: Sequence[ToolResultFileEditContent] = (),
    ) -> None:
        """Ask whether it may be made, without waiting: see `ask`."""
        is_decided, self._was_asked = self._is_decided(), True
        if is_decided or self.status == "pending-confirmation":
            return
        title = question or f"Allow {self._title}?"
        asked: dict[str, Any] = {"confirmationTitle": title, "options": list(options)}
        if edits:
            asked["edits"] = {"items": [_plain_edit(edit) for edit in edits]}
        self._act("toolCallReady", **self._parameters(), **asked)
        self._write_contents()
        self._reports.catch_up(asking=self.id)

    def _is_decided(self) -> bool:
        """Tell whether it was decided before a restart; one that runs may ask again."""
        call = self._call
        was_allowed = call["status"] == "running" and call["confirmed"] == "user-action"
        return call["status"] in ENDED or (was_allowed and not self._was_asked and self._reports.is_again)

    async def wait_decision(self) -> Decision:
        """Wait until somebody has decided."""
        await self._reports.running.wait_for(lambda: self.status != "pending-confirmation" or None)
        self._reports.catch_up()
        return _decision(self._call)

    def _parameters(self) -> JsonObject:
        return {"invocationMessage": self._title, "toolInput": encode_json(self._input).decode()}

    def edited(self, path: Path, before: str | None, after: str | None) -> ToolResultFileEditContent:
        """Make a block that shows a change of a file; the same change is the same block."""
        key = (path, before, after)
        if key not in self._edits:
            self._edits[key] = self._context.edited(path, before, after)
        return self._edits[key]

    def _write_contents(self) -> None:
        writes, self._context.writes = self._context.writes, []
        if writes:
            self._reports.running.session.journal.write(writes)

    def show(self, *content: str | ToolResultContent) -> None:
        """Show this while it runs, in place of what was shown before."""
        self.run()
        if self.status == "running":
            blocks = outcome_of(ToolResult(content), title=self._title).content
            if blocks != self._call.get("content", []):
                self._act("toolCallContentChanged", content=blocks)
                self._write_contents()

    def complete(self, result: ToolResult) -> None:
        """Say what came of it; changes of files among it become changes of the session."""
        self.run()
        if not self.is_over:
            self._reports.complete(self._call, outcome_of(result, title=self._title), self._context)

    def fail(self, sentence: str, code: str = "failed") -> None:
        """Say that it failed, and why."""
        self.run()
        if not self.is_over:
            outcome = failure(sentence, title=self._title, code=code)
            self._reports.complete(self._call, outcome, self._context)

    def _act(self, kind: str, **fields: Any) -> None:
        running = self._reports.running
        running.act(running.output.on_call(kind, self.id, **fields))


class Reports:
    """The calls that the agent of one running turn runs by itself.

    Attributes:
        is_again: whether the agent is run again after a restart.
    """

    def __init__(self, running: "RunningTurn", *, is_again: bool) -> None:
        self.running = running
        self.is_again = is_again

    def begin(self, name: str, title: str, given: JsonObject) -> ReportedCall:
        """Let a call appear, or find the one that began before the restart."""
        self.running.check()
        return ReportedCall(self, self.running.output.call(name, None, title, None, REPORTED), title, given)

    def find(self, call_id: str) -> JsonObject:
        """Give a call as the state has it."""
        self.running.check()
        return self.running.output.find_call(call_id) or {}

    def fail_open(self, sentence: str) -> None:
        """Let all calls that have not ended fail: who ran them is gone."""
        self.running.check()
        for part in list(self.running.output.parts):
            if part["kind"] == "toolCall" and part["toolCall"]["status"] not in ENDED:
                call = part["toolCall"]
                ReportedCall(self, call["toolCallId"], call["displayName"], {}).fail(sentence, "interrupted")

    def complete(self, call: JsonObject, outcome: ToolOutcome, context: ToolContext) -> None:
        """Let a call end: in one commit, what people see, and what can be told of it by now."""
        call_id = call["toolCallId"]
        is_asked = any(asked["toolCallId"] == call_id for asked in open_calls(self.running.messages))
        message = tool_message(call_id, result_content(outcome.result()))
        told = [Said(self.running.id, message)] if is_asked else []
        self.running.calls.end(call, outcome, context, told)
        self.catch_up()

    def catch_up(self, asking: str | None = None) -> None:
        """Bring the transcript up to date; `asking` is a call that somebody is just asked about."""
        running = self.running
        messages = reported_messages(running.output.parts, running.messages, running.notes, asking=asking)
        if messages:
            running.session.note([Said(running.id, message) for message in messages])


def _plain_edit(edit: ToolResultFileEditContent) -> JsonObject:
    return {key: value for key, value in edit.items() if key != "type"}


def _decision(call: JsonObject) -> Decision:
    option = call.get("selectedOption", {}).get("id")
    if call["status"] != "cancelled":
        return Decision(call["status"] == "running" or call.get("confirmed") == "user-action", option)
    said = [plain(call.get("reasonMessage")), call.get("userSuggestion", {}).get("text", "")]
    return Decision(approved=False, option=option, reason="\n".join(text for text in said if text))
