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
from agenthost.client.ahp.observable_replica import now_ms
from agenthost.client.ahp.params import model_selection
from agenthost.client.ahp.resource import Resource
from agenthost.client.ahp.tool_runner import ToolRunner
from agenthost.client.ahp.tools import active_client
from agenthost.client.ahp.turn import TurnStream
from agenthost.client.tools import Tools, tools_by_name
from agenthost.core import actions
from agenthost.core.conversation import Conversation
from agenthost.core.legacy.customizations import toggled
from agenthost.core.queries import active_calls, find_customization, open_questions
from agenthost.core.session_meta import model_of
from agenthost.core.times import elapsed_ms, iso_time
from agenthost.wire.ahp import ROOT_URI
from agenthost.wire.ahp.actions.text import Action
from agenthost.wire.ahp.commands.chat import CompletionItem
from agenthost.wire.ahp.enums import SessionStatus
from agenthost.wire.ahp.input import ChatInputRequest
from agenthost.wire.ahp.message import Message, MessageAttachment
from agenthost.wire.ahp.root import ModelSelection
from agenthost.wire.ahp.toolcall import ToolCallState
from agenthost.wire.ahp.turn import ActiveTurn, Turn
from agenthost.wire.json import Json, JsonObject, encode_json

__all__ = ["Session"]


class Session(Resource[Conversation]):
    """One session that this client is subscribed to, with its default chat.

    Its state has both: `state.session` is what concerns the whole session, `state.chat` has the turns.
    """

    def __init__(self, uri: str, connection: Connection, runner: ToolRunner, client_name: str | None) -> None:
        super().__init__(uri, connection)
        self._client_name = client_name
        self._runner = runner
        self._model: ModelSelection | None = None

    # State

    def _read_state(self) -> Conversation:
        return self._replica.conversation(self.uri)

    def _read_confirmed(self) -> Conversation:
        return self._replica.confirmed_conversation(self.uri)

    @property
    def chat_uri(self) -> str:
        """The URI of the chat that messages go to.

        Raises:
            AhpError: `Gone` or `Closed`.
        """
        self._check()
        return self._replica.chat_of(self.uri)

    @property
    def agent(self) -> str:
        """The name of its agent."""
        return self.state.session["provider"]

    @property
    def title(self) -> str:
        """Its title; empty if it has none yet."""
        return self.state.session["title"]

    @property
    def status(self) -> int:
        """What its chat is doing, and whether the session is read and archived (`SessionStatus`)."""
        session, chat = self.state
        return int(session["status"] & ~SessionStatus.ACTIVITY | chat["status"] & SessionStatus.ACTIVITY)

    @property
    def modified_at(self) -> str:
        """When it was last used."""
        return self.state.chat["modifiedAt"]

    @property
    def model(self) -> ModelSelection | None:
        """The model of the next message; None for the agent's default."""
        return self._model or model_of(self.state.session)

    @property
    def turns(self) -> list[Turn]:
        """The turns that have ended, as far as they are loaded: see `history`."""
        return self.state.chat["turns"]

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

    # Talking

    def say(self, text: str, attachments: Sequence[MessageAttachment] = ()) -> TurnStream:
        """Start a turn, and return an iterator of the pieces of its answer.

        Raises:
            AhpError: `Gone` or `Closed`.
        """
        turn_id = secrets.token_hex(8)
        changes = self.changes()
        message = self._message(text, attachments)
        action = actions.turn_started(turn_id, message, iso_time(now_ms()) or "")
        return TurnStream(self, turn_id, self._dispatch(action), changes)

    def _message(self, text: str, attachments: Sequence[MessageAttachment]) -> Message:
        message: Message = {"text": text, "origin": {"kind": "user"}}
        if attachments:
            message["attachments"] = list(attachments)
        if self._model is not None:
            message["model"] = self._model
        return message

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
        """Cancel the running turn (D2).

        Raises:
            ValueError: no turn is running.
        """
        turn_id = self._turn_id()
        started_at: Any = self.state.chat.get("activeTurn", {}).get("startedAt", "")
        return self._dispatch(actions.turn_cancelled(turn_id, elapsed_ms(started_at, now_ms())))

    def resume(self) -> DispatchedAction:
        """Go on with the last turn, which ended with an error that can be resumed (C6).

        Raises:
            ValueError: there is no turn.
            Refused: the host only knows AHP 0.1, which cannot do this.
        """
        if not self.turns:
            raise ValueError("there is no turn to go on with")
        return self._dispatch(actions.turn_resumed(self.turns[-1]["id"]))

    def save_draft(self, text: str | None) -> DispatchedAction:
        """Keep what is being written for all clients to see; None removes it.

        Raises:
            Refused: the host only knows AHP 0.1, which has no drafts.
        """
        return self._dispatch(actions.draft_changed(None if text is None else self._message(text, ())))

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
        name, message = message_id or secrets.token_hex(8), self._message(text, attachments)
        return self._dispatch(actions.pending_message_set(kind, name, message))

    def unqueue(self, message_id: str, kind: Literal["queued", "steering"] = "queued") -> DispatchedAction:
        """Remove a message that waits."""
        return self._dispatch(actions.pending_message_removed(kind, message_id))

    def reorder(self, message_ids: Sequence[str]) -> DispatchedAction:
        """Reorder the queued messages."""
        return self._dispatch(actions.queued_messages_reordered(list(message_ids)))

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

    # Settings

    def rename(self, title: str) -> DispatchedAction:
        """Change the title."""
        return self._dispatch(actions.title_changed(title))

    def archive(self, *, is_archived: bool = True) -> DispatchedAction:
        """Archive the session, or bring it back."""
        return self._dispatch(actions.is_archived_changed(is_archived=is_archived))

    def mark_read(self, *, is_read: bool = True) -> DispatchedAction:
        """Mark the session as read or unread."""
        return self._dispatch(actions.is_read_changed(is_read=is_read))

    def set_model(self, model: str, config: Mapping[str, Any] | None = None) -> None:
        """Use another model from our next message on, which tells the host of it.

        Raises:
            ValueError: the agent does not offer this model.
        """
        offered = self._offered_models()
        if offered and model not in offered:
            raise ValueError(f"there is no model {model!r}; there are {', '.join(offered)}")
        self._model = model_selection(model, config)

    def _offered_models(self) -> list[str]:
        if not self._replica.is_subscribed(ROOT_URI):
            return []
        agents = self._replica.root()["agents"]
        return [model["id"] for one in agents if one["provider"] == self.agent for model in one["models"]]

    def set_config(self, values: JsonObject, *, replace: bool = False) -> DispatchedAction:
        """Change settings; with `replace`, drop all others."""
        return self._dispatch(actions.config_changed(values, replace=replace))

    def toggle(self, customization: str, *, enabled: bool) -> DispatchedAction:
        """Enable or disable a customization for this session, by its URI.

        Raises:
            ValueError: there is no such customization.
        """
        found = find_customization(self.state.session, lambda one: one.get("uri") == customization)
        if found is None:
            raise ValueError(f"there is no customization {customization!r}")
        return self._dispatch(actions.customization_toggled(found["id"], toggled(found, enabled=enabled)))

    def truncate(self, turn_id: str | None = None) -> DispatchedAction:
        """Remove all turns after this one; without an id, all turns."""
        return self._dispatch(actions.truncated(turn_id))

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
        return self._dispatch(actions.active_client_set(client))

    def set_tools(self, tools: Tools) -> DispatchedAction:
        """Offer other tools, as the active client.

        Raises:
            TypeError: a parameter of a tool has no JSON type.
            ValueError: two tools have the same name.
        """
        own = tools_by_name(tools)
        client = active_client(self._replica.client_id, self._client_name, own)
        self._runner.offer(own, client)
        return self._dispatch(actions.active_client_set(client))

    def release(self) -> DispatchedAction:
        """Stop being the active client; running calls are still finished."""
        self._runner.wanted = None
        return self._dispatch(actions.active_client_removed(self._replica.client_id))

    # Requests

    async def load_turns(self) -> bool:
        """Load older turns, if the host has not sent them all. Return whether it had some.

        Raises:
            AhpError: such as `NotFound`.
        """
        cursor = self.confirmed.chat.get("turnsNextCursor")
        if cursor is None:
            return False
        params = {"channel": self.chat_uri, "cursor": cursor}
        await self._connection.request("fetchTurns", params, is_repeatable=True)
        return self.confirmed.chat.get("turnsNextCursor") != cursor

    async def history(self) -> AsyncIterator[Turn]:
        """Yield all turns that have ended, the newest first, loading older ones as they are needed.

        Raises:
            AhpError: such as `NotFound`.
        """
        seen: set[str] = set()
        while True:
            for turn in reversed(self.confirmed.chat["turns"]):
                if turn["id"] not in seen:
                    seen.add(turn["id"])
                    yield turn
            if not await self.load_turns():
                return

    async def completions(self, text: str, offset: int | None = None) -> list[CompletionItem]:
        """Fetch completions for a message; `offset` counts characters, as Python does.

        Raises:
            AhpError: such as `NotFound`.
        """
        position = len((text if offset is None else text[:offset]).encode("utf-16-le")) // 2  # HR-U10
        params = {"channel": self.chat_uri, "kind": "userMessage", "text": text, "offset": position}
        found = await self._connection.request("completions", params, is_repeatable=True)
        return found["items"]  # type: ignore[no-any-return] # checked

    def _dispatch(self, action: Action) -> DispatchedAction:
        """Dispatch an action to the session or to its chat.

        Raises:
            AhpError: `Gone` or `Closed`; `Refused` if the host has no such action.
        """
        self._check()
        is_chat = action["type"].startswith("chat/")
        return self._connection.dispatch(self.chat_uri if is_chat else self.uri, action)

    # Life

    async def ready(self) -> None:
        """Wait until the session is ready (HR-L02).

        Raises:
            Refused: it could not be created.
        """
        state = (await self.until(lambda state: state.session["lifecycle"] != "creating")).session
        if state["lifecycle"] == "failed":
            error = state.get("creationError")
            raise Refused(error["message"] if error else "the session could not be created", data=error)

    def close(self) -> None:
        """Unsubscribe. The session goes on without this client and its tools."""
        if not self.is_gone:
            self._runner.leave()
            self._connection.notify("unsubscribe", {"channel": self.chat_uri})
        super().close()

    async def dispose(self) -> None:
        """Delete the session for good, for everybody.

        Raises:
            AhpError: the host refuses, or cannot be reached.
        """
        params = {"channel": self.uri}
        await self._connection.request("disposeSession", params, is_repeatable=True, means_done=NotFound)
        self._replica.forget(self.uri)


def _call_id(call: ToolCallState | str) -> str:
    return call if isinstance(call, str) else call["toolCallId"]


def _json(value: Json) -> str:
    return encode_json(value).decode()
