"""Sessions: one conversation with an agent, shared with all clients that are subscribed to it.

A method that changes something dispatches one action. It shows in `state` at once; await what the method
returns to learn what the host says.
"""

import secrets
from collections.abc import AsyncIterator, Mapping, Sequence
from typing import Any, Literal

from agenthost.client.ahp.answers import build_answers
from agenthost.client.ahp.connection import Connection
from agenthost.client.ahp.dispatched_action import DispatchedAction
from agenthost.client.ahp.errors import NotFound, Refused
from agenthost.client.ahp.params import model_selection
from agenthost.client.ahp.resource import Resource
from agenthost.client.ahp.tool_runner import ToolRunner
from agenthost.client.ahp.tools import active_client
from agenthost.client.ahp.turn import TurnStream
from agenthost.client.tools import Tools, tools_by_name
from agenthost.core.legacy import actions
from agenthost.core.legacy.queries import active_calls
from agenthost.wire.ahp.legacy.commands.session import CompletionItem, FetchTurnsResult
from agenthost.wire.ahp.legacy.input import SessionInputRequest
from agenthost.wire.ahp.legacy.message import MessageAttachment, UserMessage
from agenthost.wire.ahp.legacy.session import SessionState, SessionSummary
from agenthost.wire.ahp.legacy.toolcall import ToolCallState
from agenthost.wire.ahp.legacy.turn import ActiveTurn, Turn
from agenthost.wire.json import Json, JsonObject, encode_json

__all__ = ["Session"]


class Session(Resource[SessionState]):
    """One session that this client is subscribed to."""

    def __init__(self, uri: str, connection: Connection, runner: ToolRunner, client_name: str | None) -> None:
        super().__init__(uri, connection)
        self._client_name = client_name
        self._runner = runner

    # State

    @property
    def summary(self) -> SessionSummary:
        """The session as it is in the list of sessions."""
        return self.state["summary"]

    @property
    def turns(self) -> list[Turn]:
        """The turns that have ended."""
        return self.state["turns"]

    @property
    def active_turn(self) -> ActiveTurn | None:
        """The turn that is running."""
        return self.state.get("activeTurn")

    @property
    def requests(self) -> list[SessionInputRequest]:
        """The questions of the agent that are open."""
        return self.confirmed.get("inputRequests", [])

    @property
    def calls(self) -> list[ToolCallState]:
        """The tool calls of the running turn, as the host confirmed them."""
        return active_calls(self.confirmed)

    @property
    def open_calls(self) -> list[ToolCallState]:
        """The tool calls that wait for approval."""
        return [call for call in self.calls if call["status"] == "pending-confirmation"]

    @property
    def held_results(self) -> list[ToolCallState]:
        """The tool calls whose results wait for approval before the agent sees them."""
        return [call for call in self.calls if call["status"] == "pending-result-confirmation"]

    # Talking

    def say(self, text: str, attachments: Sequence[MessageAttachment] = ()) -> TurnStream:
        """Start a turn, and return an iterator of the pieces of its answer.

        Raises:
            AhpError: `Gone` or `Closed`.
        """
        turn_id = secrets.token_hex(8)
        changes = self.changes()
        action = actions.turn_started(self.uri, turn_id, _message(text, attachments))
        return TurnStream(self, turn_id, self._dispatch(action), changes)

    async def send(self, text: str, attachments: Sequence[MessageAttachment] = ()) -> str:
        """Start a turn, wait until the host has accepted it, and return its id.

        Raises:
            Rejected: the host did not, for example because another turn is running.
            AhpError: the outcome is unknown, or the session is gone.
        """
        stream = self.say(text, attachments)
        try:
            await stream.dispatched
        finally:
            await stream.aclose()
        return stream.turn_id

    async def ask(self, text: str, attachments: Sequence[MessageAttachment] = ()) -> str:
        """Start a turn, wait until it is over, and return the text of its answer.

        Raises:
            Rejected: the host did not accept it, for example because another turn is running.
            TurnFailed: the turn ended with an error.
            AhpError: the session is gone, or the client is closed.
        """
        return await self.say(text, attachments).text()

    def cancel(self) -> DispatchedAction:
        """Cancel the running turn (HR-A05).

        Raises:
            ValueError: no turn is running.
        """
        return self._dispatch(actions.turn_cancelled(self.uri, self._turn_id()))

    def queue(
        self, text: str, attachments: Sequence[MessageAttachment] = (), message_id: str | None = None
    ) -> DispatchedAction:
        """Queue a message to become a turn; with the id of a queued one, replace that."""
        return self._set_pending("queued", text, attachments, message_id)

    def steer(self, text: str, attachments: Sequence[MessageAttachment] = ()) -> DispatchedAction:
        """Say something to the running turn, or to the next one."""
        return self._set_pending("steering", text, attachments, None)

    def _set_pending(
        self,
        kind: Literal["queued", "steering"],
        text: str,
        attachments: Sequence[MessageAttachment],
        message_id: str | None,
    ) -> DispatchedAction:
        name, message = message_id or secrets.token_hex(8), _message(text, attachments)
        return self._dispatch(actions.pending_message_set(self.uri, kind, name, message))

    def unqueue(self, message_id: str, kind: Literal["queued", "steering"] = "queued") -> DispatchedAction:
        """Remove a message that waits."""
        return self._dispatch(actions.pending_message_removed(self.uri, kind, message_id))

    def reorder(self, message_ids: Sequence[str]) -> DispatchedAction:
        """Reorder the queued messages."""
        return self._dispatch(actions.queued_messages_reordered(self.uri, list(message_ids)))

    # Approving

    def approve(
        self, call: ToolCallState | str, *, option: str | None = None, edited_input: Json = None
    ) -> DispatchedAction:
        """Let a tool run, perhaps with another input; `option` is the id of an offered option."""
        text = edited_input if isinstance(edited_input, str) or edited_input is None else _json(edited_input)
        action = actions.tool_call_approved(
            self.uri, self._turn_id(), _call_id(call), option_id=option, edited_input=text
        )
        return self._dispatch(action)

    def deny(
        self, call: ToolCallState | str, reason: str | None = None, *, option: str | None = None
    ) -> DispatchedAction:
        """Deny a tool call; the agent gets the reason."""
        action = actions.tool_call_denied(
            self.uri, self._turn_id(), _call_id(call), message=reason, option_id=option
        )
        return self._dispatch(action)

    def confirm_result(self, call: ToolCallState | str, *, approved: bool = True) -> DispatchedAction:
        """Let the agent see the result of a tool, or not."""
        action = actions.tool_call_result_confirmed(
            self.uri, self._turn_id(), _call_id(call), approved=approved
        )
        return self._dispatch(action)

    def _turn_id(self) -> str:
        turn = self.active_turn
        if turn is None:
            raise ValueError("no turn is running")
        return turn["id"]

    # Answering questions

    def answer(
        self, request: SessionInputRequest | str, answers: Mapping[str, Any] | None = None
    ) -> DispatchedAction:
        """Answer questions with plain values, by the ids of the questions; None skips one.

        Raises:
            ValueError: there is no such question, or a value does not fit it.
        """
        asked = self._request(request) if isinstance(request, str) else request
        values = build_answers(asked, answers) if answers is not None else None
        return self._dispatch(actions.input_completed(self.uri, asked["id"], "accept", values))

    def draft(self, request: SessionInputRequest | str, question: str, value: Any) -> DispatchedAction:
        """Show all clients an answer before it is final; None removes it."""
        asked = self._request(request) if isinstance(request, str) else request
        answer: Any = None
        if value is not None:
            answer = {**build_answers(asked, {question: value})[question], "state": "draft"}
        return self._dispatch(actions.input_answer_changed(self.uri, asked["id"], question, answer))

    def decline(
        self, request: SessionInputRequest | str, response: Literal["decline", "cancel"] = "decline"
    ) -> DispatchedAction:
        """Decline to answer questions."""
        name = request if isinstance(request, str) else request["id"]
        return self._dispatch(actions.input_completed(self.uri, name, response))

    def _request(self, name: str) -> SessionInputRequest:
        found = next((one for one in self.requests if one["id"] == name), None)
        if found is None:
            raise ValueError(f"there is no open request {name!r}")
        return found

    # Settings

    def rename(self, title: str) -> DispatchedAction:
        """Change the title."""
        return self._dispatch(actions.title_changed(self.uri, title))

    def archive(self, *, is_archived: bool = True) -> DispatchedAction:
        """Archive the session, or bring it back."""
        return self._dispatch(actions.is_archived_changed(self.uri, is_archived=is_archived))

    def mark_read(self, *, is_read: bool = True) -> DispatchedAction:
        """Mark the session as read or unread."""
        return self._dispatch(actions.is_read_changed(self.uri, is_read=is_read))

    def set_model(self, model: str, config: Mapping[str, str] | None = None) -> DispatchedAction:
        """Use another model from the next turn on. During a turn the host answers after it (HR-A06)."""
        return self._dispatch(actions.model_changed(self.uri, model_selection(model, config)))

    def set_config(self, values: JsonObject, *, replace: bool = False) -> DispatchedAction:
        """Change settings; with `replace`, drop all others."""
        return self._dispatch(actions.config_changed(self.uri, values, replace=replace))

    def toggle(self, customization: str, *, enabled: bool) -> DispatchedAction:
        """Enable or disable a customization, by its URI."""
        return self._dispatch(actions.customization_toggled(self.uri, customization, enabled=enabled))

    def truncate(self, turn_id: str | None = None) -> DispatchedAction:
        """Remove all turns after this one; without an id, all turns."""
        return self._dispatch(actions.truncated(self.uri, turn_id))

    # Tools of this client

    def become_active(self, tools: Tools = (), *, customizations: Sequence[Any] = ()) -> DispatchedAction:
        """Become the active client, whose tools the agent uses; also after reconnecting (HR-A11).

        Raises:
            TypeError: a parameter of a tool has no JSON type.
            ValueError: two tools have the same name.
        """
        own = tools_by_name(tools)
        client = active_client(self._replica.client_id, self._client_name, own, customizations)
        self._runner.offer(own, client)
        return self._dispatch(actions.active_client_changed(self.uri, client))

    def set_tools(self, tools: Tools) -> DispatchedAction:
        """Offer other tools, as the active client.

        Raises:
            TypeError: a parameter of a tool has no JSON type.
            ValueError: two tools have the same name.
        """
        own = tools_by_name(tools)
        client = active_client(self._replica.client_id, self._client_name, own)
        self._runner.offer(own, client)
        return self._dispatch(actions.active_client_tools_changed(self.uri, client["tools"]))

    def release(self) -> DispatchedAction:
        """Stop being the active client; running calls are still finished."""
        self._runner.wanted = None
        return self._dispatch(actions.active_client_changed(self.uri, None))

    # Requests

    async def fetch_turns(self, before: str | None = None, limit: int | None = None) -> FetchTurnsResult:
        """Fetch a page of turns: those right before one, or the newest.

        Raises:
            AhpError: such as `NotFound`.
        """
        options = {"before": before, "limit": limit}
        params = {"session": self.uri, **{key: value for key, value in options.items() if value is not None}}
        page: FetchTurnsResult = await self._connection.request("fetchTurns", params, is_repeatable=True)
        return page

    async def history(self, page: int = 50) -> AsyncIterator[Turn]:
        """Yield all turns that have ended, the newest first, fetching pages as they are needed.

        Raises:
            AhpError: such as `NotFound`.
        """
        before: str | None = None
        while True:
            found = await self.fetch_turns(before, page)
            for turn in reversed(found["turns"]):
                yield turn
            if not found["hasMore"] or not found["turns"] or found["turns"][0]["id"] == before:
                return
            before = found["turns"][0]["id"]

    async def completions(self, text: str, offset: int | None = None) -> list[CompletionItem]:
        """Fetch completions for a message; `offset` counts characters, as Python does.

        Raises:
            AhpError: such as `NotFound`.
        """
        position = len((text if offset is None else text[:offset]).encode("utf-16-le")) // 2  # HR-U10
        params = {"kind": "userMessage", "session": self.uri, "text": text, "offset": position}
        found = await self._connection.request("completions", params, is_repeatable=True)
        return found["items"]  # type: ignore[no-any-return] # checked

    # Life

    async def ready(self) -> None:
        """Wait until the session is ready (HR-L02).

        Raises:
            Refused: it could not be created.
        """
        state = await self.until(lambda state: state["lifecycle"] != "creating")
        if state["lifecycle"] == "creationFailed":
            error = state.get("creationError")
            raise Refused(error["message"] if error else "the session could not be created", data=error)

    def close(self) -> None:
        """Unsubscribe. The session goes on without this client and its tools."""
        if not self.is_gone:
            self._runner.leave()
        super().close()

    async def dispose(self) -> None:
        """Delete the session for good, for everybody.

        Raises:
            AhpError: the host refuses, or cannot be reached.
        """
        params = {"session": self.uri}
        await self._connection.request("disposeSession", params, is_repeatable=True, means_done=NotFound)
        self._replica.forget(self.uri)


def _message(text: str, attachments: Sequence[MessageAttachment]) -> UserMessage:
    return {"text": text, "attachments": list(attachments)} if attachments else {"text": text}


def _call_id(call: ToolCallState | str) -> str:
    return call if isinstance(call, str) else call["toolCallId"]


def _json(value: Json) -> str:
    return encode_json(value).decode()
