"""Acting: what can be done in a session, as one action each.

It shows at once in `state`, and gives an `Echo`: await it to hear what the host says.
"""

import secrets
from collections.abc import Mapping, Sequence
from typing import Any, Literal

from agenthost.client.ahp.answers import answers_of
from agenthost.client.ahp.changes import Echo
from agenthost.client.ahp.watching import Watched
from agenthost.wire.ahp.input import SessionInputRequest
from agenthost.wire.ahp.message import MessageAttachment, UserMessage
from agenthost.wire.ahp.session import SessionState
from agenthost.wire.ahp.toolcall import ToolCallState
from agenthost.wire.ahp.turn import ActiveTurn
from agenthost.wire.json import Json, JsonObject, encode_json

__all__ = ["Acting", "message_of"]


class Acting(Watched[SessionState]):
    """A session, as far as actions go."""

    @property
    def active_turn(self) -> ActiveTurn | None:
        """The turn that is running."""
        return self.state.get("activeTurn")

    @property
    def requests(self) -> list[SessionInputRequest]:
        """What the agent asks for."""
        return self.confirmed.get("inputRequests", [])

    # Talking

    def cancel(self) -> Echo:
        """Stop the turn that is running.

        Raises:
            ValueError: there is none.
        """
        return self._act("session/turnCancelled", turnId=self._turn_id())

    def queue(
        self, text: str, attachments: Sequence[MessageAttachment] = (), message_id: str | None = None
    ) -> Echo:
        """Let a message wait for its turn; with the id of one that waits, say it differently."""
        return self._wait("queued", text, attachments, message_id)

    def steer(self, text: str, attachments: Sequence[MessageAttachment] = ()) -> Echo:
        """Say something to the turn that is running, or to the next one."""
        return self._wait("steering", text, attachments, None)

    def _wait(
        self, kind: str, text: str, attachments: Sequence[MessageAttachment], message_id: str | None
    ) -> Echo:
        name, message = message_id or secrets.token_hex(8), message_of(text, attachments)
        return self._act("session/pendingMessageSet", kind=kind, id=name, userMessage=message)

    def unqueue(self, message_id: str, kind: Literal["queued", "steering"] = "queued") -> Echo:
        """Take back a message that waits."""
        return self._act("session/pendingMessageRemoved", kind=kind, id=message_id)

    def reorder(self, message_ids: Sequence[str]) -> Echo:
        """Give the messages that wait another order."""
        return self._act("session/queuedMessagesReordered", order=list(message_ids))

    # Deciding

    def approve(
        self, call: ToolCallState | str, *, option: str | None = None, edited_input: Json = None
    ) -> Echo:
        """Let a tool run, perhaps with another input; `option` is the id of one of those that are offered."""
        text = edited_input if isinstance(edited_input, str) or edited_input is None else _json(edited_input)
        return self._decide(
            call, approved=True, confirmed="user-action", selectedOptionId=option, editedToolInput=text
        )

    def deny(
        self, call: ToolCallState | str, reason: str | None = None, *, option: str | None = None
    ) -> Echo:
        """Do not let a tool run; the agent is told why."""
        return self._decide(
            call, approved=False, reason="denied", reasonMessage=reason, selectedOptionId=option
        )

    def _decide(self, call: ToolCallState | str, **fields: Any) -> Echo:
        return self._act(
            "session/toolCallConfirmed", turnId=self._turn_id(), toolCallId=_call_id(call), **fields
        )

    def confirm_result(self, call: ToolCallState | str, *, approved: bool = True) -> Echo:
        """Let the agent see the result of a tool, or not."""
        return self._act(
            "session/toolCallResultConfirmed",
            turnId=self._turn_id(),
            toolCallId=_call_id(call),
            approved=approved,
        )

    def answer(self, request: SessionInputRequest | str, answers: Mapping[str, Any] | None = None) -> Echo:
        """Answer what the agent asks: plain values, by the ids of the questions; None skips one.

        Raises:
            ValueError: there is no such question, or a value does not fit it.
        """
        asked = self._request(request) if isinstance(request, str) else request
        given = answers_of(asked, answers) if answers is not None else None
        return self._act("session/inputCompleted", requestId=asked["id"], response="accept", answers=given)

    def draft(self, request: SessionInputRequest | str, question: str, value: Any) -> Echo:
        """Show everybody an answer before it is final; None takes it back."""
        asked = self._request(request) if isinstance(request, str) else request
        answer: Any = None
        if value is not None:
            answer = {**answers_of(asked, {question: value})[question], "state": "draft"}
        return self._act(
            "session/inputAnswerChanged", requestId=asked["id"], questionId=question, answer=answer
        )

    def decline(
        self, request: SessionInputRequest | str, response: Literal["decline", "cancel"] = "decline"
    ) -> Echo:
        """Do not answer what the agent asks."""
        name = request if isinstance(request, str) else request["id"]
        return self._act("session/inputCompleted", requestId=name, response=response)

    def _request(self, name: str) -> SessionInputRequest:
        found = next((one for one in self.requests if one["id"] == name), None)
        if found is None:
            raise ValueError(f"the agent does not ask for {name!r}")
        return found

    def _turn_id(self) -> str:
        turn = self.active_turn
        if turn is None:
            raise ValueError("no turn is running")
        return turn["id"]

    # Changing it

    def rename(self, title: str) -> Echo:
        """Give it another title."""
        return self._act("session/titleChanged", title=title)

    def archive(self, *, is_archived: bool = True) -> Echo:
        """Put it away, or bring it back."""
        return self._act("session/isArchivedChanged", isArchived=is_archived)

    def mark_read(self, *, is_read: bool = True) -> Echo:
        """Note that it was read, or not."""
        return self._act("session/isReadChanged", isRead=is_read)

    def set_model(self, model: str, config: Mapping[str, str] | None = None) -> Echo:
        """Use another model, from the next turn on; while one runs, the host answers when it is over."""
        return self._act(
            "session/modelChanged", model={"id": model, **({"config": dict(config)} if config else {})}
        )

    def set_config(self, values: JsonObject, *, replace: bool = False) -> Echo:
        """Change settings; `replace` in place of all others."""
        return self._act("session/configChanged", config=values, replace=True if replace else None)

    def toggle(self, customization: str, *, enabled: bool) -> Echo:
        """Switch a customization on or off, by its URI."""
        return self._act("session/customizationToggled", uri=customization, enabled=enabled)

    def truncate(self, turn_id: str | None = None) -> Echo:
        """Forget all turns after this one; without, all."""
        return self._act("session/truncated", turnId=turn_id)


def message_of(text: str, attachments: Sequence[MessageAttachment]) -> UserMessage:
    """Give what is said as a message."""
    return {"text": text, "attachments": list(attachments)} if attachments else {"text": text}


def _call_id(call: ToolCallState | str) -> str:
    return call if isinstance(call, str) else call["toolCallId"]


def _json(value: Json) -> str:
    return encode_json(value).decode()
