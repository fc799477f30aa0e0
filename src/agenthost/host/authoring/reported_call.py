"""Tool calls that an agent runs by itself, shown like all others.

The agent reports what it does, and the host makes valid actions of it: people see the call begin, ask, run
and end, and can approve or deny it; the transcript has it with its result. Nothing is run here. An agent that
is run again after a restart reports again, and what the state already has is left as it is.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from agenthost.core import actions
from agenthost.core.conversation import ConversationAction
from agenthost.core.queries import ENDED_CALL_STATUSES
from agenthost.core.turn_transcript import display_text
from agenthost.host.authoring.tool_context import ToolContext
from agenthost.host.authoring.tool_results import ToolOutcome, ToolResult, failure, outcome_of
from agenthost.host.storage import PutContent
from agenthost.wire.ahp.tool import FileEditCollection, ToolResultContent, ToolResultFileEditContent
from agenthost.wire.ahp.toolcall import ConfirmationOption
from agenthost.wire.json import JsonObject, encode_json

__all__ = ["CallReports", "Decision", "ReportedCall"]


@dataclass(frozen=True, slots=True)
class Decision:
    """What the user decided about a call.

    Attributes:
        approved: whether the call may run.
        option: the id of the option that was chosen; None if it was simply approved or denied.
        reason: why it was denied, and what the user wants instead.
    """

    approved: bool
    option: str | None = None
    reason: str = ""


class CallReports(Protocol):
    """Where reported calls are shown: a running turn."""

    @property
    def uri(self) -> str:
        """The URI of the session."""

    @property
    def turn_id(self) -> str:
        """The id of the turn."""

    @property
    def is_resumed(self) -> bool:
        """Whether this is another run of the agent, after a restart."""

    def find(self, call_id: str) -> JsonObject:
        """Return a call as the state has it."""

    def act(self, action: ConversationAction) -> None:
        """Apply an action of the turn."""

    def write(self, contents: Sequence[PutContent]) -> None:
        """Write contents that a call refers to."""

    def context(self, call_id: str) -> ToolContext:
        """Make the context of a call."""

    def complete(self, call: JsonObject, outcome: ToolOutcome, context: ToolContext) -> None:
        """End a call."""

    def catch_up(self, asking: str | None = None) -> None:
        """Bring the transcript up to date; `asking` is a call that the user is being asked about."""

    async def wait_for(self, look: Callable[[], Any]) -> Any:
        """Wait until `look` returns a value."""


class ReportedCall:
    """A call that the agent runs by itself. Its methods can be called in any order; the state stays valid."""

    def __init__(self, reports: CallReports, call_id: str, title: str, arguments: JsonObject) -> None:
        self.id = call_id
        self._reports = reports
        self._title = title
        self._input = arguments
        self._was_asked = False
        self._context = reports.context(call_id)
        self._edits: dict[tuple[Path, str | None, str | None], ToolResultFileEditContent] = {}

    @property
    def status(self) -> str:
        """Its status: `streaming`, `pending-confirmation`, `running`, `completed` or `cancelled`."""
        return self._call["status"]  # type: ignore[no-any-return]

    @property
    def is_over(self) -> bool:
        """Whether it has completed, failed or been denied."""
        return self.status in ENDED_CALL_STATUSES

    @property
    def _call(self) -> JsonObject:
        return self._reports.find(self.id)

    def describe(self, title: str | None = None, given: JsonObject | None = None) -> None:
        """Set what is known so far of its title and input. If it is running, the change is shown at once."""
        is_news = title not in (None, self._title) or given not in (None, self._input)
        self._title = self._title if title is None else title
        self._input = self._input if given is None else given
        call = self._call
        if is_news and call["status"] == "running":
            self._make_ready(confirmed=call["confirmed"])
            if "content" in call:
                self._show(call["content"])

    def run(self) -> None:
        """Show that it is running, without asking the user."""
        if self.status == "streaming":
            self._make_ready(confirmed="not-needed")

    async def ask(
        self,
        options: Sequence[ConfirmationOption],
        *,
        question: str | None = None,
        edits: Sequence[ToolResultFileEditContent] = (),
    ) -> Decision:
        """Ask the user to approve it, and wait for the decision. It may be running already.

        `edits` are the changes that it would make, from `edited`. Nothing else should begin until the user
        has decided: a client that was told what to answer may not be able to receive more.
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
        """Ask the user to approve it, without waiting: see `ask`."""
        is_decided, self._was_asked = self._is_decided(), True
        if is_decided or self.status == "pending-confirmation":
            return
        title = question or f"Allow {self._title}?"
        items: FileEditCollection | None = {"items": [_plain_edit(edit) for edit in edits]} if edits else None
        self._make_ready(title=title, options=list(options), edits=items)
        self._write_contents()
        self._reports.catch_up(asking=self.id)

    def _is_decided(self) -> bool:
        """Return whether it was decided before a restart. A running call may ask again."""
        call = self._call
        was_allowed = call["status"] == "running" and call["confirmed"] == "user-action"
        return call["status"] in ENDED_CALL_STATUSES or (
            was_allowed and not self._was_asked and self._reports.is_resumed
        )

    async def wait_decision(self) -> Decision:
        """Wait until the user has decided."""
        await self._reports.wait_for(lambda: self.status != "pending-confirmation" or None)
        self._reports.catch_up()
        return _decision(self._call)

    def _make_ready(self, **fields: Any) -> None:
        turn_id = self._reports.turn_id
        text = encode_json(self._input).decode()
        self._reports.act(actions.tool_call_ready(turn_id, self.id, self._title, tool_input=text, **fields))

    def _show(self, content: list[ToolResultContent]) -> None:
        turn_id = self._reports.turn_id
        self._reports.act(actions.tool_call_content_changed(turn_id, self.id, content))

    def edited(self, path: Path, before: str | None, after: str | None) -> ToolResultFileEditContent:
        """Return a block that shows a change of a file; the same change gives the same block."""
        key = (path, before, after)
        if key not in self._edits:
            self._edits[key] = self._context.edited(path, before, after)
        return self._edits[key]

    def _write_contents(self) -> None:
        writes, self._context.writes = self._context.writes, []
        if writes:
            self._reports.write(writes)

    def show(self, *content: str | ToolResultContent) -> None:
        """Show content while it runs, replacing what was shown before."""
        self.run()
        if self.status == "running":
            blocks = outcome_of(ToolResult(content), title=self._title).content
            if blocks != self._call.get("content", []):
                self._show(blocks)
                self._write_contents()

    def complete(self, result: ToolResult) -> None:
        """End it with this result. Changes of files in the result become changes of the session."""
        self.run()
        if not self.is_over:
            self._reports.complete(self._call, outcome_of(result, title=self._title), self._context)

    def fail(self, sentence: str, code: str = "failed") -> None:
        """End it as failed, with the reason."""
        self.run()
        if not self.is_over:
            outcome = failure(sentence, title=self._title, code=code)
            self._reports.complete(self._call, outcome, self._context)


def _plain_edit(edit: ToolResultFileEditContent) -> Any:
    return {key: value for key, value in edit.items() if key != "type"}


def _decision(call: JsonObject) -> Decision:
    option = call.get("selectedOption", {}).get("id")
    if call["status"] != "cancelled":
        return Decision(call["status"] == "running" or call.get("confirmed") == "user-action", option)
    said = [display_text(call.get("reasonMessage")), call.get("userSuggestion", {}).get("text", "")]
    return Decision(approved=False, option=option, reason="\n".join(text for text in said if text))
