"""The calls that the agent of a running turn runs by itself. Implements `CallReports`."""

from collections.abc import Sequence
from typing import Any

from agenthost.core.conversation import ConversationAction
from agenthost.core.queries import has_ended, tool_calls
from agenthost.core.transcript import open_calls
from agenthost.core.turn_transcript import reported_messages, result_content, tool_message
from agenthost.host.authoring.reported_call import ReportedCall
from agenthost.host.authoring.tool_context import ToolContext
from agenthost.host.authoring.tool_results import ToolOutcome
from agenthost.host.sessions.recorder import turn_messages
from agenthost.host.state.session import Session, TranscriptEntry
from agenthost.host.storage import PutContent
from agenthost.host.turns.output import Output
from agenthost.host.turns.tool_calls import ToolCalls
from agenthost.host.turns.waiter import TurnWaiter
from agenthost.wire.json import JsonObject

__all__ = ["ReportedCalls"]

REPORTED: JsonObject = {"agenthost": {"reported": True}}
"""The `_meta` of a call that its agent runs by itself."""


class ReportedCalls:
    """The reported calls of one turn: the `CallReports` of its agent.

    Attributes:
        uri: the URI of the session.
        turn_id: the id of the turn.
        is_resumed: whether this is another run of the agent, after a restart.
        wait_for: waits until its argument returns a value; calls it again after each action.
        context: makes the context of a call.
    """

    def __init__(
        self, session: Session, output: Output, calls: ToolCalls, waiter: TurnWaiter, *, is_resumed: bool
    ) -> None:
        self.uri = session.row.uri
        self.turn_id = output.turn_id
        self.is_resumed = is_resumed
        self.wait_for = waiter.wait_for
        self.context = calls.context
        self._session = session
        self._output = output
        self._calls = calls
        self._waiter = waiter

    def begin(self, name: str, title: str, arguments: JsonObject) -> ReportedCall:
        """Show a call, or find the one that it repeats after a restart."""
        self._waiter.check()
        return ReportedCall(self, self._output.call(name, None, title, None, REPORTED), title, arguments)

    def find(self, call_id: str) -> JsonObject:
        """Return a call from the state."""
        self._waiter.check()
        return self._output.find_call(call_id) or {}

    def act(self, action: ConversationAction) -> None:
        """Apply an action of the turn."""
        self._calls.act(action)

    def write(self, contents: Sequence[PutContent]) -> None:
        """Write contents that a call refers to."""
        self._session.journal.write(contents)

    def fail_open(self, sentence: str) -> None:
        """Fail all calls that have not ended, because whatever ran them is gone."""
        self._waiter.check()
        for call in tool_calls(self._output.parts):
            if not has_ended(call):
                reported = ReportedCall(self, call["toolCallId"], call["displayName"], {})
                reported.fail(sentence, "interrupted")

    def complete(self, call: JsonObject, outcome: ToolOutcome, context: ToolContext) -> None:
        """End a call. The result that users see and the messages for the model are one commit."""
        call_id = call["toolCallId"]
        messages = turn_messages(self._session, self.turn_id)
        is_asked = any(asked["toolCallId"] == call_id for asked in open_calls(messages))
        message = tool_message(call_id, result_content(outcome.result()))
        # A call that asked for permission is in the transcript already; `catch_up` adds all others.
        told = [TranscriptEntry(self.turn_id, message)] if is_asked else []
        self._calls.end(call, outcome, context, told)
        self.catch_up()

    def catch_up(self, asking: str | None = None) -> None:
        """Bring the transcript up to date; `asking` is a call that the user is being asked about."""
        session, turn_id, notes = self._session, self.turn_id, self._session.notes
        known: Any = turn_messages(session, turn_id)
        messages = reported_messages(self._output.parts, known, notes, asking=asking)
        if messages:
            session.note([TranscriptEntry(turn_id, message) for message in messages])
