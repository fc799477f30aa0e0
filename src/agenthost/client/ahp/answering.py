"""What a client answers in a chat: calls that wait for approval, and questions of the agent."""

from collections.abc import Mapping
from typing import Any, Literal

from agenthost.client.ahp.answers import build_answers
from agenthost.client.ahp.connection import Connection
from agenthost.client.ahp.dispatched_action import DispatchedAction
from agenthost.client.ahp.resource import Resource
from agenthost.core import actions
from agenthost.core.conversation import Conversation
from agenthost.core.queries import active_calls, open_questions
from agenthost.wire.ahp.actions.text import Action
from agenthost.wire.ahp.common import URI
from agenthost.wire.ahp.input import ChatInputRequest
from agenthost.wire.ahp.toolcall import ToolCallState
from agenthost.wire.ahp.turn import ActiveTurn
from agenthost.wire.json import Json, encode_json

__all__ = ["AnsweringResource"]


class AnsweringResource(Resource[Conversation]):
    """A session and one of its chats, as far as something waits there for an answer.

    Attributes:
        session_uri: the URI of the session.
    """

    def __init__(self, uri: URI, session: URI, connection: Connection) -> None:
        super().__init__(uri, connection)
        self.session_uri = session

    def _read_state(self) -> Conversation:
        return self._replica.conversation(self.uri)

    def _read_confirmed(self) -> Conversation:
        return self._replica.confirmed_conversation(self.uri)

    @property
    def chat_uri(self) -> URI:
        """The URI of the chat that messages go to.

        Raises:
            AhpError: `Gone` or `Closed`.
        """
        self._check()
        return self._replica.chat_of(self.uri)

    @property
    def active_turn(self) -> ActiveTurn | None:
        """The turn that is running."""
        return self.state.chat.get("activeTurn")

    @property
    def requests(self) -> list[ChatInputRequest]:
        """The questions of the agent that are open."""
        return open_questions(self.confirmed.chat)

    @property
    def calls(self) -> list[ToolCallState]:
        """The tool calls of the running turn, as the host confirmed them."""
        return active_calls(self.confirmed.chat)

    @property
    def open_calls(self) -> list[ToolCallState]:
        """The tool calls that wait for approval."""
        return [call for call in self.calls if call["status"] == "pending-confirmation"]

    @property
    def held_results(self) -> list[ToolCallState]:
        """The tool calls whose results wait for approval before the agent sees them."""
        return [call for call in self.calls if call["status"] == "pending-result-confirmation"]

    # Approving

    def approve(
        self, call: ToolCallState | str, *, option: str | None = None, edited_input: Json = None
    ) -> DispatchedAction:
        """Let a tool run, perhaps with another input; `option` is the id of an offered option."""
        text = edited_input if isinstance(edited_input, str) or edited_input is None else _json(edited_input)
        action = actions.tool_call_approved(
            self._turn_id(), _call_id(call), option_id=option, edited_input=text
        )
        return self._dispatch(action)

    def deny(
        self, call: ToolCallState | str, reason: str | None = None, *, option: str | None = None
    ) -> DispatchedAction:
        """Deny a tool call; the agent gets the reason."""
        action = actions.tool_call_denied(self._turn_id(), _call_id(call), message=reason, option_id=option)
        return self._dispatch(action)

    def confirm_result(self, call: ToolCallState | str, *, approved: bool = True) -> DispatchedAction:
        """Let the agent see the result of a tool, or not."""
        action = actions.tool_call_result_confirmed(self._turn_id(), _call_id(call), approved=approved)
        return self._dispatch(action)

    def _turn_id(self) -> str:
        turn = self.active_turn
        if turn is None:
            raise ValueError("no turn is running")
        return turn["id"]

    # Answering questions

    def answer(
        self, request: ChatInputRequest | str, answers: Mapping[str, Any] | None = None
    ) -> DispatchedAction:
        """Answer questions with plain values, by the ids of the questions; None skips one.

        Raises:
            ValueError: there is no such question, or a value does not fit it.
        """
        asked = self._request(request) if isinstance(request, str) else request
        values = build_answers(asked, answers) if answers is not None else None
        return self._dispatch(actions.input_completed(asked["id"], "accept", values))

    def draft(self, request: ChatInputRequest | str, question: str, value: Any) -> DispatchedAction:
        """Show all clients an answer before it is final; None removes it."""
        asked = self._request(request) if isinstance(request, str) else request
        answer: Any = None
        if value is not None:
            answer = {**build_answers(asked, {question: value})[question], "state": "draft"}
        return self._dispatch(actions.input_answer_changed(asked["id"], question, answer))

    def decline(
        self, request: ChatInputRequest | str, response: Literal["decline", "cancel"] = "decline"
    ) -> DispatchedAction:
        """Decline to answer questions."""
        name = request if isinstance(request, str) else request["id"]
        return self._dispatch(actions.input_completed(name, response))

    def _request(self, name: str) -> ChatInputRequest:
        found = next((one for one in self.requests if one["id"] == name), None)
        if found is None:
            raise ValueError(f"there is no open request {name!r}")
        return found

    def _dispatch(self, action: Action) -> DispatchedAction:
        """Dispatch an action to the session or to its chat.

        Raises:
            AhpError: `Gone` or `Closed`; `Refused` if the host has no such action.
        """
        self._check()
        is_chat = action["type"].startswith("chat/")
        return self._connection.dispatch(self.chat_uri if is_chat else self.session_uri, action)


def _call_id(call: ToolCallState | str) -> str:
    return call if isinstance(call, str) else call["toolCallId"]


def _json(value: Json) -> str:
    return encode_json(value).decode()
