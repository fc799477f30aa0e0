"""What a client says in a chat, and what was said there.

A method that changes something dispatches one action. It shows in `state` at once; await what the method
returns to learn what the host says.
"""

import secrets
from collections.abc import AsyncIterator, Mapping, Sequence
from typing import Any, Literal

from agenthost.client.ahp.answering import AnsweringResource
from agenthost.client.ahp.connection import Connection
from agenthost.client.ahp.dispatched_action import DispatchedAction
from agenthost.client.ahp.observable_replica import now_ms
from agenthost.client.ahp.params import model_selection
from agenthost.client.ahp.turn import TurnStream
from agenthost.core import actions
from agenthost.core.session_meta import model_of
from agenthost.core.times import elapsed_ms, iso_time
from agenthost.wire.ahp import ROOT_URI
from agenthost.wire.ahp.commands.chat import CompletionItem
from agenthost.wire.ahp.common import URI
from agenthost.wire.ahp.message import Message, MessageAttachment
from agenthost.wire.ahp.root import ModelSelection
from agenthost.wire.ahp.turn import Turn

__all__ = ["TalkingResource"]


class TalkingResource(AnsweringResource):
    """A session and the chat in it that messages go to."""

    def __init__(self, uri: URI, session: URI, connection: Connection) -> None:
        super().__init__(uri, session, connection)
        self._model: ModelSelection | None = None

    @property
    def agent(self) -> str:
        """The name of its agent."""
        return self.state.session["provider"]

    @property
    def model(self) -> ModelSelection | None:
        """The model of the next message; None for the agent's default."""
        return self._model or model_of(self.state.session)

    @property
    def turns(self) -> list[Turn]:
        """The turns that have ended, as far as they are loaded: see `history`."""
        return self.state.chat["turns"]

    # Talking

    def say(self, text: str, attachments: Sequence[MessageAttachment] = ()) -> TurnStream:
        """Start a turn, and return an iterator of the pieces of its answer.

        Raises:
            AhpError: `Gone` or `Closed`.
        """
        turn_id = secrets.token_hex(8)
        # Before the action is dispatched, so that no piece of the answer is missed.
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
            AhpError: the outcome is unknown, or the chat is gone.
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
            AhpError: the chat is gone, or the client is closed.
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

    def truncate(self, turn_id: str | None = None) -> DispatchedAction:
        """Remove all turns after this one; without an id, all turns."""
        return self._dispatch(actions.truncated(turn_id))

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

    # What was said
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
